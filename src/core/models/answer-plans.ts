/** The models for a question: one that answers now, and its fallbacks. */
import { present } from '../util/present.ts';
import type { AnswerPlan, AnswerPlans, AnswerWork } from '../work.ts';

/** The plan of the current model. */
function planOf({ dialect, readsImages, way, note, request }: AnswerWork): AnswerPlan {
  return present({ dialect, readsImages, way, note, model: request.model });
}

const NO_PLANS = {
  readsImages: undefined,
  way: undefined,
  note: undefined,
  fallbacks: undefined,
  failed: undefined,
} as const;

/** Replaces the plans of the work with plans that nobody has tried yet. */
export function withPlans(work: AnswerWork, { model, ...plans }: AnswerPlans): AnswerWork {
  return present({ ...work, ...NO_PLANS, ...plans, request: { ...work.request, model } });
}

/** Returns the work for the next model; undefined if this is the last one. */
export function nextModel(work: AnswerWork): AnswerWork | undefined {
  const [next, ...fallbacks] = work.fallbacks ?? [];
  if (!next) return undefined;
  const failed = [...(work.failed ?? []), planOf(work)];
  return { ...withPlans(work, joinPlans(next, fallbacks)), failed };
}

/** Returns all plans of the work in their first order, failed ones included. */
export function allPlans(work: AnswerWork): AnswerPlans {
  const plan = planOf(work);
  const [first = plan, ...others] = [...(work.failed ?? []), plan, ...(work.fallbacks ?? [])];
  return joinPlans(first, others);
}

/** Joins plans without repeating a model of a dialect. */
export function joinPlans(first: AnswerPlan, others: readonly AnswerPlan[]): AnswerPlans {
  const names = new Set([planName(first)]);
  const fallbacks = others.filter((plan) => !names.has(planName(plan)) && names.add(planName(plan)));
  return { ...first, ...(fallbacks.length > 0 && { fallbacks }) };
}

/** The model with its dialect, as in `msg:some-id`. */
export const planName = ({ dialect, model }: Pick<AnswerPlan, 'dialect' | 'model'>): string =>
  `${dialect}:${model}`;
