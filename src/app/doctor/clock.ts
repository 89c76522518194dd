/** Compares this machine's clock with those of the services. Slack, for one, refuses requests that are five minutes off. */
import { type Finding, good, warning, wrong } from '../../core/finding.ts';

const SUBJECT = 'Clock';
const TIMEOUT_MS = 5_000;
/** A Date header has whole seconds, and the response takes time to arrive. */
const TOLERANCE_MS = 5_000;
/** https://docs.slack.dev/authentication/verifying-requests-from-slack: five minutes; interactions of Discord live for 3 s. */
const WRONG_MS = 60_000;

/** @param urls servers in use anyway; the first with a Date header counts */
export async function inspectClock(
  urls: readonly string[],
  { fetch, now }: { readonly fetch: typeof globalThis.fetch; readonly now: () => number },
): Promise<Finding[]> {
  for (const url of urls) {
    const said = await timeAt(url, fetch);
    if (said === undefined) continue;
    const off = now() - said;
    const seconds = Math.round(Math.abs(off) / 1000);
    const remedy = 'turn on NTP: timedatectl set-ntp true';
    const sentence = `${seconds} s ${off < 0 ? 'behind' : 'ahead of'} ${new URL(url).hostname}`;
    if (Math.abs(off) >= WRONG_MS) return [wrong(SUBJECT, sentence, remedy)];
    if (Math.abs(off) >= TOLERANCE_MS) return [warning(SUBJECT, sentence, remedy)];
    return [good(SUBJECT, `in sync with ${new URL(url).hostname}`)];
  }
  return [];
}

async function timeAt(url: string, fetch: typeof globalThis.fetch): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const time = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}
