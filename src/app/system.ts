/** Time and chance of this process. Programs make it once and pass it on; tests pass another. */
import { randomBytes } from 'node:crypto';
import { sleep, systemClock } from '../core/clock.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';

export function systemOf(log: Log): System {
  const { now, elapsed } = systemClock;
  return { now, elapsed, sleep, random: Math.random, newId, log };
}

/** 20 letters and digits, never the same twice. */
function newId(): string {
  return randomBytes(10).toString('hex');
}
