/** The button Page: shows, removes and restores the page of a song. */
import type { ActionInvocation, CommandAction } from '../../src/core/bot/command.ts';
import { privately } from '../../src/core/bot/outcome.ts';
import { notModerator } from '../../src/core/errors.ts';
import { serverWord } from '../../src/core/invocation.ts';
import { button } from '../../src/core/message.ts';
import { titleOf } from '../../src/core/music/song.ts';

function canManage({ job, person }: ActionInvocation): boolean {
  return person.id === job.person.id || person.moderator;
}

function assertCanManage(invocation: ActionInvocation): void {
  if (!canManage(invocation))
    throw notModerator(
      invocation.person,
      'Only a moderator or the person who requested this song can remove or restore its page.',
    );
}

export const page: CommandAction = {
  async run(invocation, context) {
    const { job, address } = invocation;
    const target = { id: job.id, command: 'song' };
    const title = `Page of ${titleOf(job)}`;
    if (job.pageWithdrawn) {
      const actions = canManage(invocation) ? [button(target, 'publish', 'Restore page')] : [];
      return privately({
        title,
        text: "This page was removed, so its link doesn't work.",
        actions,
      });
    }
    const url = await context.pages.of(job);
    if (url === undefined) {
      return privately({
        title,
        text: `Songs here have no pages. A moderator of this ${serverWord(address)} can turn them on with /pages set. If that doesn't help, ask the bot's operator whether PUBLIC_URL is set.`,
      });
    }
    return privately({
      title,
      text: 'Anyone with this link can listen to the song.',
      actions: [
        ...(canManage(invocation)
          ? [{ ...button(target, 'withdraw', 'Remove page'), icon: 'remove' as const }]
          : []),
        { type: 'link', url, label: 'Open page' },
      ],
    });
  },
};

export const withdraw: CommandAction = {
  async run(invocation, { pages }) {
    assertCanManage(invocation);
    await pages.setWithdrawn(invocation.job, true);
    return privately(
      'Page removed. Its link no longer works. To restore it, choose **Page link** under the song.',
    );
  },
};

export const publish: CommandAction = {
  async run(invocation, { pages }) {
    assertCanManage(invocation);
    await pages.setWithdrawn(invocation.job, false);
    return privately(
      'Page restored under the same link. To see the link, choose **Page link** under the song.',
    );
  },
};
