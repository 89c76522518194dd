/** Compares this machine's clock with those of the services. Slack refuses requests that are five minutes off. */
import { type Finding, good, warning, wrong } from '../../core/finding.ts';

const SUBJECT = 'Clock';
const TIMEOUT_MS = 5_000;
/** A Date header has whole seconds, and the response takes time to arrive. */
const TOLERANCE_MS = 5_000;
/** Slack allows five minutes: https://docs.slack.dev/authentication/verifying-requests-from-slack. Discord's interactions expire after 3 s. */
const WRONG_MS = 60_000;

/** @param urls the services in use; the first that sends a Date header is compared */
export async function inspectClock(
  urls: readonly string[],
  { fetch, now }: { readonly fetch: typeof globalThis.fetch; readonly now: () => number },
): Promise<Finding[]> {
  for (const url of urls) {
    const serverTime = await timeAt(url, fetch);
    if (serverTime === undefined) continue;
    const off = now() - serverTime;
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
