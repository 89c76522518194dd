/** Preloaded with `--import` into a measured process: replies to its parent's messages with its resource usage. */

/** Short, so that few turns of the event loop are measured together. */
const INTERVAL_MS = 5;

let longestMs = 0;

/** Measures CPU time between two timers, because timers on a busy machine are late even without computation. */
function watchLoop(): void {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1_000);
    before = now;
  }, INTERVAL_MS).unref();
}

process.on('message', (message) => {
  // Started on demand, because the timer costs more than an idle bot.
  if (message === 'watch') return watchLoop();
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuMs: (user + system) / 1_000,
    longestMs,
    rssMb: process.memoryUsage.rss() / 1e6,
    // Kibibytes: https://nodejs.org/api/process.html#processresourceusage
    peakMb: (process.resourceUsage().maxRSS * 1_024) / 1e6,
  });
  longestMs = 0;
});
process.channel?.unref();
