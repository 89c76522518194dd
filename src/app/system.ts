/** The clock and randomness of this process. Programs create it once and pass it on; tests pass a fake. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import { sleep, systemClock } from '../core/util/clock.ts';

/** Names this process in logs and traces. In a container, the host name is that of the container or pod. */
export const REPLICA = `${hostname()}-${process.pid}`;

export function systemOf(log: Log): System {
  const { now, elapsed } = systemClock;
  return { now, elapsed, sleep, random: Math.random, newId, log };
}

/** Returns 20 random hexadecimal digits. */
function newId(): string {
  return randomBytes(10).toString('hex');
}
