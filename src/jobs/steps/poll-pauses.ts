/** When a video is asked about: not before most of the usual time has passed, then every 3 to 15 seconds. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Of the median of recent videos of the same model. */
const FIRST_PART = 0.8;

/** The pause between two polls, by how long the video has taken. The public API advises 15 seconds. */
const PAUSES = [
  { untilMs: MINUTE, pauseMs: 3 * SECOND },
  { untilMs: 3 * MINUTE, pauseMs: 5 * SECOND },
  { untilMs: 10 * MINUTE, pauseMs: 10 * SECOND },
  { untilMs: Number.POSITIVE_INFINITY, pauseMs: 15 * SECOND },
] as const;

interface Progress {
  /** Since the video was submitted. */
  readonly elapsedMs: number;
  /** The median of recent videos of the same model, where there are any. */
  readonly typicalMs?: number | undefined;
}

/** Milliseconds until a video is asked about again. Jitter keeps replicas apart. */
export function pollPause({ elapsedMs, typicalMs = 0 }: Progress, random: () => number): number {
  const { pauseMs } = PAUSES.find(({ untilMs }) => elapsedMs < untilMs) ?? PAUSES[3];
  const first = FIRST_PART * typicalMs - elapsedMs;
  return Math.max(first, pauseMs) * (0.95 + random() / 10);
}
