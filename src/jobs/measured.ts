/** What a run brought a job to, in numbers for operators. */
import { isOpen, type Job } from '../core/job.ts';
import { modelOf } from '../settings/limits/limits.ts';
import type { JobDependencies } from './dependencies.ts';

/** @param before as the run found it, or as it was saved last */
export function measureRun(
  before: Job,
  after: Job,
  { measure, familyOf, now }: Pick<JobDependencies, 'measure' | 'familyOf' | 'now'>,
): void {
  const family = familyOf(after.work);
  if (before.submittedAt === undefined && after.submittedAt !== undefined)
    measure('minstrel_submitted_seconds', { family }, seconds(after.createdAt, after.submittedAt));
  if (isOpen(before) && !isOpen(after))
    measure('minstrel_ended_seconds', { family, state: after.state }, seconds(after.createdAt, now()));
  if (!before.undelivered && after.undelivered)
    measure('minstrel_undelivered_total', { platform: after.address.platform });
  const usage = after.result?.answer?.usage;
  if (usage === undefined || before.result?.answer?.usage !== undefined) return;
  const model = modelOf(after.work) ?? 'none';
  measure('minstrel_gateway_tokens_total', { model, direction: 'input' }, usage.inputTokens ?? 0);
  measure('minstrel_gateway_tokens_total', { model, direction: 'output' }, usage.outputTokens ?? 0);
}

export const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1000;
