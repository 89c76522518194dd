/** Whether this machine's clock agrees with those services: Slack refuses what is five minutes off, and so do others. */
import { type Finding, good, warning, wrong } from '../../core/finding.ts';

const SUBJECT = 'Clock';
const TIMEOUT_MS = 5_000;
/** A Date header has whole seconds, and the answer was on its way. */
const TOLERANCE_MS = 5_000;
/** https://docs.slack.dev/authentication/verifying-requests-from-slack: five minutes; interactions of Discord live for 3 s. */
const WRONG_MS = 60_000;

/** @param urls of servers that are used anyway; the first that names its time is believed */
export async function inspectClock(
  urls: readonly string[],
  { fetch, now }: { readonly fetch: typeof globalThis.fetch; readonly now: () => number },
): Promise<Finding[]> {
  for (const url of urls) {
    const said = await timeAt(url, fetch);
    if (said === undefined) continue;
    const off = now() - said;
    const seconds = Math.round(Math.abs(off) / 1000);
    const remedy = 'let the system keep it by NTP: timedatectl set-ntp true';
    const sentence = `it is ${seconds} s ${off < 0 ? 'behind' : 'ahead of'} ${new URL(url).hostname}`;
    if (Math.abs(off) >= WRONG_MS) return [wrong(SUBJECT, sentence, remedy)];
    if (Math.abs(off) >= TOLERANCE_MS) return [warning(SUBJECT, sentence, remedy)];
    return [good(SUBJECT, `it agrees with ${new URL(url).hostname}`)];
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
