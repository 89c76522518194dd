import { describePlatform } from '../../contracts/platform.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { openTerminal, readPaper } from './harness.ts';

describePlatform('The terminal', async () => {
  const { terminal, make, paper, folder, keep, close } = await openTerminal();
  await terminal.start(SILENT_BOT);
  return {
    platform: terminal,
    single: true,
    alone: true,
    address: { platform: 'terminal', channel: 'terminal', person: 'you' },
    goneAddress: { platform: 'terminal', channel: 'another', person: 'you' },
    keep: async (bytes, contentType) => keep(bytes, contentType),
    messages: async () => (await readPaper(paper.written(), folder)).posts,
    privateMessages: async () => (await readPaper(paper.written(), folder)).privateMessages,
    // A terminal has only one person.
    pinged: async () => [],
    restart: async () => {
      const next = make();
      await next.start(SILENT_BOT);
      return next;
    },
    close,
  };
});
