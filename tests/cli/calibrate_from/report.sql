-- A few rows as Nsight Systems exports them, to be worked out by hand.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
    demangledName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpyAsync_v3020'),
    (3, 'cudaStreamSynchronize_v3020'), (4, 'cudaGraphLaunch_v10000'), (9, 'attend');
INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA A40');
-- Two threads. Thread 7 launches at 0, 6 us, 13 us; copies; waits; launches again.
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
    (0, 2000, 0, 7, 1, 1, 0), (6000, 8000, 0, 7, 2, 1, 0), (13000, 15000, 0, 7, 3, 1, 0),
    (20000, 22300, 0, 7, 4, 2, 0), (30000, 900000, 0, 7, 5, 3, 0),
    (905000, 907000, 0, 7, 6, 1, 0),
    (0, 3500, 0, 8, 7, 4, 0);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (3000, 4000, 0, 7, 1, 9), (8500, 9000, 0, 7, 2, 9), (15500, 16000, 0, 7, 3, 9),
    (911000, 912000, 0, 7, 6, 9);
-- 16 MiB in 838.8608 us is 20 GB/s, and ends 12 us before the wait returns; a pageable copy, a
-- small copy, and one back.
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
    (49139, 888000, 0, 7, 4, 16777216, 1, 1, 2),
    (1000000, 1100000, 0, 7, NULL, 16777216, 1, 0, 2),
    (1200000, 1204000, 0, 7, NULL, 4096, 1, 1, 2),
    (2000000, 3677722, 0, 7, NULL, 33554432, 2, 2, 1);
