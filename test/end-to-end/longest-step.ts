/** Preloaded into a bot: on SIGUSR2, reports the longest time its main thread computed without a break. */
const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
let before = process.threadCpuUsage();
let longest = 0;

setInterval(() => {
  longest = Math.max(longest, milliseconds(process.threadCpuUsage(before)));
  before = process.threadCpuUsage();
}, 1).unref();

process.on('SIGUSR2', () => {
  process.stdout.write(`longest step: ${longest.toFixed(1)}\n`);
  longest = 0;
});
