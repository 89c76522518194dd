/** The votes of a contest, on platforms that have polls. */
import type { Contest, ContestPoll } from '../../core/contest.ts';
import { type Platform, PlatformError } from '../../platforms/platform.ts';
import type { ContestRun } from './parts.ts';

/** The longest wait for a platform that is still counting votes. */
const LONGEST_COUNTING_MS = 10 * 60_000;
const HOUR = 3_600_000;

/** The number of polls below the ballot; 0 if people vote with buttons. */
export function pollCount({ ballot, polls }: Contest, native: Platform['polls']): number {
  return native && polls?.length !== 0 ? Math.ceil(ballot.length / native.mostAnswers) : 0;
}

/** Opens the platform's polls, each with about as many entries. Without polls or the permission for them, people vote with buttons. */
export async function openPolls({ key, contest, store, platform, log, now }: ContestRun): Promise<void> {
  const { id, theme, address, ballot, votingEndsAt = 0 } = contest;
  const native = platform(address.platform)?.polls;
  const size = Math.ceil(ballot.length / pollCount(contest, native));
  const opened: ContestPoll[] = [];
  try {
    for (let first = 0; native && first < ballot.length; first += size) {
      const answers = ballot.slice(first, first + size).map((_, index) => `Entry ${first + index + 1}`);
      const hours = (votingEndsAt - now()) / HOUR + 1;
      const poll = { question: `${theme}: which entry is the best?`, answers, hours };
      const posted = await native.open(address, poll, `${id}:poll:${first}`);
      opened.push({ posted, answers: answers.length });
    }
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code === 'unavailable' || opened.length > 0) throw error;
    log.warn({ err: error, contest: id }, 'Could not open a poll, so people vote with buttons');
  }
  await store.setPolls(key, id, opened);
}

/** Ends the polls and counts their votes. A poll that was deleted counts as no votes. */
export async function closePolls(
  polls: readonly ContestPoll[],
  { contest: { address, votingEndsAt = 0 }, platform, now }: ContestRun,
): Promise<'counting' | { readonly counts: readonly number[]; readonly votesLost: boolean }> {
  const counts: number[] = [];
  let votesLost = false;
  for (const { posted, answers } of polls) {
    const count = await platform(address.platform)?.polls?.close(address, posted);
    if (count?.isFinal === false && now() < votingEndsAt + LONGEST_COUNTING_MS) return 'counting';
    votesLost ||= count === undefined;
    counts.push(...(count?.votes ?? Array.from({ length: answers }, () => 0)));
  }
  return { counts, votesLost };
}
