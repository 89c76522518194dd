/** The models of a question, of which each is asked if the ones before it cannot answer. */
import { present } from './util/present.ts';
import type { AnswerPlan, AnswerPlans, AnswerWork } from './work.ts';

/** The plan of the model that answers now. */
function planOf({ dialect, readsImages, way, note, request }: AnswerWork): AnswerPlan {
  return present({ dialect, readsImages, way, note, model: request.model });
}

/** Replaces the plans of the work. Their models have not been asked yet. */
export function withPlans(
  { readsImages: _, way: __, note: ___, fallbacks: ____, failed: _____, ...work }: AnswerWork,
  { model, ...plans }: AnswerPlans,
): AnswerWork {
  return { ...work, ...plans, request: { ...work.request, model } };
}

/** Returns the work for the next model; undefined after the last one. */
export function nextModel(work: AnswerWork): AnswerWork | undefined {
  const [next, ...fallbacks] = work.fallbacks ?? [];
  if (!next) return undefined;
  const failed = [...(work.failed ?? []), planOf(work)];
  return { ...withPlans(work, inOrder(next, fallbacks)), failed };
}

/** Returns all plans of the work, those that failed included, as before the first was asked. */
export function allPlans(work: AnswerWork): AnswerPlans {
  const plan = planOf(work);
  const [first = plan, ...others] = [...(work.failed ?? []), plan, ...(work.fallbacks ?? [])];
  return inOrder(first, others);
}

/** Puts each model of a dialect into the plans once. */
export function inOrder(first: AnswerPlan, others: readonly AnswerPlan[]): AnswerPlans {
  const names = new Set([planName(first)]);
  const fallbacks = others.filter((plan) => !names.has(planName(plan)) && names.add(planName(plan)));
  return { ...first, ...(fallbacks.length > 0 && { fallbacks }) };
}

/** The model with its dialect, as in `msg:some-id`. */
export const planName = ({ dialect, model }: Pick<AnswerPlan, 'dialect' | 'model'>): string =>
  `${dialect}:${model}`;
