import type { BrowserMessage } from '../../../src/core/web/browser-chat.ts';
import { describePlatform } from '../../contracts/platform.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { openWeb, visibleMessageOf, watchChat } from './harness.ts';

describePlatform('The browser chat', async () => {
  const { make, keep, files, newest, close } = await openWeb();
  const platform = make();
  await platform.start(SILENT_BOT);
  /** The messages Ada sees if she opens the page now. */
  const visibleToAda = async (): Promise<BrowserMessage[]> => {
    const web = newest();
    if (!web) return [];
    const page = watchChat(web.browserChat, 'ada');
    await page.leave();
    return page.messages();
  };
  const isPrivate = ({ to, channel }: BrowserMessage) => to !== undefined || channel === 'direct-ada';
  return {
    platform,
    single: true,
    forgets: true,
    address: { platform: 'web', guild: 'playground', channel: 'general', person: 'ada' },
    goneAddress: { platform: 'web', channel: 'direct-bob', person: 'ada' },
    keep: async (bytes, contentType) => keep(bytes, contentType),
    messages: async () =>
      (await visibleToAda())
        .filter((message) => !isPrivate(message))
        .map((message) => visibleMessageOf(message, files)),
    privateMessages: async () =>
      (await visibleToAda()).filter(isPrivate).map((message) => visibleMessageOf(message, files)),
    pinged: async () => (await visibleToAda()).flatMap(({ mention }) => mention ?? []),
    restart: async () => {
      const next = make();
      await next.start(SILENT_BOT);
      return next;
    },
    close,
  };
});
