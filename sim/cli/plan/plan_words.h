/* A plan in words: its candidates, its goal, and its answer in one sentence, for tables, reports and
 * the database alike. */
#pragma once

#include "study/plan/planning.h"

enum { PLAN_ANSWER = 4096, PLAN_GOAL = 192, PLAN_NAME = 1024 };

/* Do the candidates differ in their machine? It is then part of a candidate's name: "vllm on a40". */
bool plan_machines_differ(const struct planning *planning);
void plan_name(const struct planning *planning, const struct search *search, char text[PLAN_NAME]);

/* The last word of the axis' key. */
const char *plan_axis(const struct planning *planning);

/* "largest rate" */
void plan_goal(const struct planning *planning, char text[PLAN_GOAL]);

/* Which candidate meets the targets with which value, which others reach the same, and what the next
 * better value misses. If none meets them, which comes nearest. */
void plan_answer(const struct planning *planning, const struct targets *targets,
                 char text[PLAN_ANSWER]);
