-- A sentence on each line of three points or more along an axis, in the words of `whatif`: the best value of the
-- measure, at the first point within a thousandth of it; the knee; the waiting times at the line's first and last point;
-- and from where on, or up to where, a server's queue grows without bound. A grid is described along its likeliest axis
-- alone: a line is left out if two of its points lie on lines of axes before its own. Over rates none is best, as each
-- load is one draw of its requests.
, ranked AS (SELECT *, rank > MIN(rank) OVER (PARTITION BY id) AS behind FROM walk WHERE points > 2),
lined AS (
  SELECT *, SUM(behind) OVER line AS crossed,
         MAX(CASE WHEN sound THEN sign * rate END) OVER line AS most, MIN(CASE WHEN sound THEN sign * rate END) OVER line AS least,
         row_number() OVER (PARTITION BY axis, series ORDER BY x, id) AS place,
         -- The queue grows at every point after this one.
         COALESCE(MAX(CASE WHEN NOT COALESCE(queue_grows, 0) THEN x END) OVER line, low - 1) AS bounded,
         MIN(CASE WHEN NOT COALESCE(queue_grows, 0) THEN x END) OVER line AS bounded_from
  FROM ranked WINDOW line AS (PARTITION BY axis, series)
),
placed AS (
  SELECT *, MIN(CASE WHEN sound AND sign * rate >= most - .001 * abs(most) THEN x END) OVER line AS best,
         MIN(CASE WHEN x > bounded THEN x END) OVER line AS unbounded,
         MAX(CASE WHEN x < bounded_from THEN x END) OVER line AS unbounded_until
  FROM lined WHERE crossed < 2 WINDOW line AS (PARTITION BY axis, series)
),
lines AS (
  SELECT series, walkable.name AS axis, first_id,
         MAX(CASE placed.place WHEN 1 THEN value END) AS "from", MAX(CASE placed.place WHEN points THEN value END) AS "to",
         CASE figure WHEN 'requests a second in time' THEN 'requests/s that meet the objectives'
                     WHEN 'tokens a second' THEN 'tokens/s'
                     WHEN 'seconds a request' THEN 's a request (mean, arrival to last token)' ELSE '% of the prompts'' tokens found' END AS unit,
         least >= most - .001 * abs(most) AS flat, figure = 'tokens a second' AND walkable.name = 'rate' AS draws,
         MAX(CASE WHEN x = best THEN sign * rate END) AS merit, MAX(CASE WHEN x = best THEN placed.id END) AS best_id,
         CASE figure WHEN 'requests a second in time' THEN 'goodput' WHEN 'tokens a second' THEN 'decode_tokens_per_s'
                     WHEN 'seconds a request' THEN 'e2e_ms' END AS measured,
         MAX(CASE WHEN x = best THEN rate END) AS best, MAX(CASE WHEN x = best THEN value END) AS best_at,
         MAX(CASE WHEN knee THEN rate END) AS knee, MAX(CASE WHEN knee THEN value END) AS knee_at,
         MAX(CASE placed.place WHEN 1 THEN e2e_p50_ms END) AS e2e_from, MAX(CASE placed.place WHEN points THEN e2e_p50_ms END) AS e2e_to,
         MAX(CASE placed.place WHEN 1 THEN ttft_p99_ms END) AS ttft_from,
         MAX(CASE placed.place WHEN points THEN ttft_p99_ms END) AS ttft_to,
         MAX(CASE WHEN x = unbounded THEN value END) AS unbounded_at,
         MAX(CASE WHEN x = unbounded_until THEN value END) AS unbounded_until
  FROM placed JOIN walkable ON walkable.path = placed.axis
  WHERE placed.numbers OR walkable.name = 'hardware.link'
  GROUP BY placed.axis, series
),
ordered AS (
  SELECT *, row_number() OVER merit AS rank, lead(series) OVER merit AS next, lead(best_at) OVER merit AS next_at,
         lead(best) OVER merit AS next_best, lead(best_id) OVER merit AS next_id
  FROM lines WINDOW merit AS (ORDER BY best IS NULL, merit DESC, first_id)
),
compared AS (
  SELECT *, ranged(best, NULL, NULL, 1) AS best_text,
         (SELECT mass_recall FROM ok WHERE id = best_id AND mass_recall < .9995) AS mass,
         (SELECT COUNT(DISTINCT model || ' ' || COALESCE(context, '')) FROM ok WHERE id IN (SELECT best_id FROM lines)) <= 1 AS alike,
         CASE WHEN rank = 1 AND next_best IS NOT NULL
                 THEN tied((SELECT run FROM ok WHERE id = best_id), (SELECT run FROM ok WHERE id = next_id), measured) END AS tie
  FROM ordered
),
-- The line that does best among several has a sentence of its own; lines whose best points are of different models or
-- contexts are not compared.
said AS (
  SELECT first_id AS place, printf('%s over %s, from %s to %s: ', series, axis, "from", "to")
       || CASE WHEN best IS NULL THEN 'no point answers all requests.'
               WHEN flat THEN printf('%s %s at every value.', best_text, unit)
               WHEN draws THEN printf('most %s %s at %s, of one draw.', best_text, unit, best_at)
               WHEN knee IS NULL THEN printf('best %s %s at %s.', best_text, unit, best_at)
               ELSE printf('best %s %s at %s; knee %s %s at %s, beyond which each increase gains less.',
                           best_text, unit, best_at, ranged(knee, NULL, NULL, 1), unit, knee_at) END
       || CASE WHEN e2e_from IS NULL OR ttft_from IS NULL THEN ''
               ELSE printf(' From the first value to the last, the median time to the last token goes from %.0f to %.0f ms,'
                           || ' and the 99th percentile of the time to first token from %.0f to %.0f ms.',
                           e2e_from, e2e_to, ttft_from, ttft_to) END
       || CASE WHEN unbounded_at IS NOT NULL THEN printf(' From %s %s on,', axis, unbounded_at)
               WHEN unbounded_until IS NOT NULL THEN printf(' Up to %s %s,', axis, unbounded_until) ELSE '' END
       || CASE WHEN COALESCE(unbounded_at, unbounded_until) IS NULL THEN ''
               ELSE ' more requests arrive than are answered: the queue grows without bound.' END AS answer,
       CASE WHEN draws OR NOT alike THEN NULL
            WHEN best IS NOT NULL AND rank = 1 AND tie IS NOT NULL THEN
            printf('Of these, %s, with %s, and %s, with %s, tie: %s and %s %s, %s.', series,
                   CASE WHEN flat THEN 'any ' || axis ELSE axis || ' ' || best_at END, next, axis || ' ' || next_at,
                   best_text, ranged(next_best, NULL, NULL, 1), unit, tie)
            WHEN best IS NOT NULL AND rank = 1 THEN
            printf('Of these, %s does best, with %s: %s %s%s.', series,
                   CASE WHEN flat THEN 'any ' || axis ELSE axis || ' ' || best_at END, best_text, unit,
                   COALESCE(', at ' || printf('%.0f', 100 * mass) || ' % of the attention mass', '')) END AS best_answer
  FROM compared
),
seated AS (SELECT *, row_number() OVER (ORDER BY place) AS seat, COUNT(*) OVER () AS lines FROM said)
SELECT answer, lines FROM (
  SELECT seat, answer, lines FROM seated
  UNION ALL SELECT lines + seat, best_answer, lines FROM seated WHERE lines > 1 AND best_answer IS NOT NULL
) ORDER BY seat;
