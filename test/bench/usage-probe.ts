/** For `--import` of the measured program: tells the process that started it by IPC what it has used since it was asked the last time. */
import { readFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
/** Microseconds of CPU between two looks of a timer: what the loop computed at a stretch, however busy the machine is. */
const computed = createHistogram();
let computing = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(computing);
  computing = process.threadCpuUsage();
  computed.record(Math.max(1, Math.round(user + system)));
}, RESOLUTION_MS).unref();
let before = process.cpuUsage();
let at = performance.now();

process.on('message', () => {
  const { user, system } = process.cpuUsage(before);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  process.send?.({
    cpuShare: (user + system) / 1_000 / (performance.now() - at),
    peakMb: Number(peak) / 1_024,
    // The histogram counts its own interval too.
    loopP99Ms: delays.percentile(99) / 1e6 - RESOLUTION_MS,
    loopWorstMs: delays.max / 1e6 - RESOLUTION_MS,
    computedP99Ms: computed.percentile(99) / 1_000,
    computedWorstMs: computed.max / 1_000,
  });
  delays.reset();
  computed.reset();
  before = process.cpuUsage();
  at = performance.now();
});
process.channel?.unref();
