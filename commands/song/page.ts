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
      'Only the requester or a moderator can remove or restore this page.',
    );
}

/** Where the page is, with the button that takes it away. */
export const page: CommandAction = {
  async run(invocation, context) {
    const { job, address } = invocation;
    const own = { id: job.id, command: 'song' };
    const title = `Page of ${titleOf(job)}`;
    if (job.pageWithdrawn) {
      const back = mayDecide(invocation) ? [button(own, 'publish', 'Restore page')] : [];
      return privately({ title, text: 'This page was removed. Its link no longer works.', actions: back });
    }
    const url = await context.pages.of(job);
    if (url === undefined) {
      return privately({
        title,
        text: `Songs here have no pages. Moderators of this ${serverWord(address)} can turn them on with /pages set, if the operator has set a public address.`,
      });
    }
    return privately({
      title,
      text: 'Anyone with the link can listen there.',
      actions: [
        ...(mayDecide(invocation) ? [button(own, 'withdraw', 'Remove page')] : []),
        { type: 'link', url, label: 'Listen' },
      ],
    });
  },
};

export const withdraw: CommandAction = {
  async run(invocation, { pages }) {
    assertMayDecide(invocation);
    await pages.setWithdrawn(invocation.job, true);
    return privately('Page removed. Its link no longer works. To restore it, press **Page** under the song.');
  },
};

export const publish: CommandAction = {
  async run(invocation, { pages }) {
    assertMayDecide(invocation);
    await pages.setWithdrawn(invocation.job, false);
    return privately('Page restored under the same link. To see the link, press **Page** under the song.');
  },
};
