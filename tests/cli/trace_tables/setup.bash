exec 2>&1
printf 'time,layer,page,head\n10,0,3,0\n10,0,1,0\n10,1,1,0\n11,0,2,0\n11,1,7,0\n' >pages.csv
printf '\7\0\0\0\0\0\0\0\7\0\0\0' >ids.u32
