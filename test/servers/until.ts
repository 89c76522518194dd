import type { EventEmitter } from 'node:events';

/** Only guards against hanging, so that slow machines do not fail tests. */
const LIMIT_MS = 120_000;
const INTERVAL_MS = 20;

export type Condition<Value> = () => Value | undefined | null | false;

/**
 * Resolves with the condition's first truthy value. It is checked after every change and every 20 ms. Rejects with the
 * message of `explain` after two minutes.
 */
export function untilChanged<Value>(
  condition: Condition<Value>,
  { emitter, event, explain }: { emitter: EventEmitter; event: string; explain: () => string },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      clearInterval(interval);
      emitter.off(event, check);
    };
    const check = () => {
      const value = condition();
      if (!value) return;
      finish();
      resolve(value);
    };
    const interval = setInterval(check, INTERVAL_MS);
    const timer = setTimeout(() => {
      finish();
      reject(new Error(explain()));
    }, LIMIT_MS);
    emitter.on(event, check);
    check();
  });
}
