import { ComponentType } from 'discord.js';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Posted } from '../../platform.ts';
import { platformErrorOf, unlessTrouble } from '../errors.ts';
import type { DeliveryTools } from './tools.ts';
import { CLOSED_TO_BOT, discordPostOf } from './writer.ts';

const rowSchema = z.looseObject({
  type: z.literal(ComponentType.ActionRow),
  components: z.array(z.looseObject({ url: z.string().optional() })),
});
const messageSchema = z.object({ components: z.array(z.looseObject({ type: z.number() })).catch([]) });

/** See Platform.removeLinks: what is closed to the bot keeps its buttons. */
export async function removeDiscordLinks(
  _address: Address,
  posted: Posted,
  page: string,
  { rest }: Pick<DeliveryTools, 'rest'>,
): Promise<void> {
  try {
    for (const { id, channel } of discordPostOf(posted).messages) {
      await unlessTrouble(['message-gone', ...CLOSED_TO_BOT], async () => {
        const { components } = messageSchema.parse(await rest.message(channel, id));
        const left = components.flatMap((component) => withoutLinks(component, page));
        if (JSON.stringify(left) !== JSON.stringify(components)) await rest.editRows(channel, id, left);
      });
    }
  } catch (error) {
    throw platformErrorOf(error);
  }
}

function withoutLinks(component: object, page: string): object[] {
  const row = rowSchema.safeParse(component).data;
  if (!row) return [component];
  const components = row.components.filter(({ url }) => !url?.startsWith(page));
  return components.length === 0 ? [] : [{ ...row, components }];
}
