/**
 * One request's end: its caller's signal, or a time limit that can be set anew while it runs. `race` rejects at once
 * when either comes, even if the promise it watches ignores the signal.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why it ended, once it has. */
  readonly ended: 'aborted' | 'timeout' | undefined;
  arm(ms: number): void;
  /** No time limit until the next `arm`. */
  disarm(): void;
  race<T>(promise: Promise<T>): Promise<T>;
  /** Must be called, however the request went. */
  release(): void;
}

export function startDeadline(ms: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  let timer: NodeJS.Timeout | undefined;

  const end = (why: 'aborted' | 'timeout') => {
    if (ended !== undefined) return;
    ended = why;
    controller.abort(new DOMException(why, 'AbortError'));
  };
  const onOuterAbort = () => end('aborted');
  const arm = (next: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => end('timeout'), next);
  };

  arm(ms);
  if (outer?.aborted === true) end('aborted');
  else outer?.addEventListener('abort', onOuterAbort, { once: true });

  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    arm,
    disarm: () => clearTimeout(timer),
    race: (promise) =>
      new Promise((resolve, reject) => {
        const { signal } = controller;
        const onAbort = () => reject(signal.reason);
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
      }),
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onOuterAbort);
    },
  };
}
