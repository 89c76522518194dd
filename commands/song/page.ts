/** The page of a song: where it is, and taking it away. */

import type { ActionInvocation, CommandAction } from '../../src/core/bot/command.ts';
import { privately } from '../../src/core/bot/outcome.ts';
import { notModerator } from '../../src/core/errors.ts';
import { serverWord } from '../../src/core/invocation.ts';
import { button } from '../../src/core/message.ts';
import { titleOf } from '../../src/core/music/song.ts';

function mayDecide({ job, person }: ActionInvocation): boolean {
  return person.id === job.person.id || person.moderator;
}

function assertMayDecide(invocation: ActionInvocation): void {
  if (!mayDecide(invocation))
    throw notModerator(
      invocation.person,
      'Only the person who asked for this song, or a moderator, can take its page away or give it back.',
    );
}

/** Where the page is, with the button that takes it away. */
export const page: CommandAction = {
  async run(invocation, context) {
    const { job, address } = invocation;
    const own = { id: job.id, command: 'song' };
    const title = `Page of ${titleOf(job)}`;
    if (job.pageWithdrawn) {
      const back = mayDecide(invocation) ? [button(own, 'publish', 'Give it back')] : [];
      return privately({ title, text: 'It was taken away: the link opens nothing.', actions: back });
    }
    const url = await context.pages.of(job);
    if (url === undefined) {
      return privately({
        title,
        text: `Songs made here have no page. Moderators of this ${serverWord(address)} can switch pages on with /pages set, where whoever runs this bot has given it a public address.`,
      });
    }
    return privately({
      title,
      text: 'Everybody who has the link can listen there.',
      actions: [
        ...(mayDecide(invocation) ? [button(own, 'withdraw', 'Take it away')] : []),
        { type: 'link', url, label: 'Listen' },
      ],
    });
  },
};

export const withdraw: CommandAction = {
  async run(invocation, { pages }) {
    assertMayDecide(invocation);
    await pages.setWithdrawn(invocation.job, true);
    return privately('The page is gone: its link opens nothing now. **Page** gives it back.');
  },
};

export const publish: CommandAction = {
  async run(invocation, { pages }) {
    assertMayDecide(invocation);
    await pages.setWithdrawn(invocation.job, false);
    return privately('The page is back, under the same link: **Page** under the song has it.');
  },
};
