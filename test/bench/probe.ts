/** For `--import` of a measured process: answers its parent's messages with what it has used. */

/** Short, so that few turns of the event loop are counted together. */
const INTERVAL_MS = 5;

let longestMs = 0;

/** CPU time between two timers, because the loop of a busy machine is late without computing anything. */
function watchLoop(): void {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1_000);
    before = now;
  }, INTERVAL_MS).unref();
}

process.on('message', (message) => {
  // The timer costs more than an idle bot.
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
