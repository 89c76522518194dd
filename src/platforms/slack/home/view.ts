/** The Home tab: https://docs.slack.dev/surfaces/app-home */
import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { FormButton, HomeSection } from '../../../command.ts';
import type { Message } from '../../../message.ts';
import { ellipsis } from '../escape.ts';
import { LIMITS } from '../limits.ts';
import { render } from '../render.ts';

export const HOME_CALLBACK = 'home';
/** The menu that chooses the channel whose settings are shown. */
export const CHANNEL_MENU = 'home-channel';
const FORM_PREFIX = 'form:';
/** Slack: 100 blocks a view. The rest is for the menu and the notice. */
const MOST_BLOCKS = 92;

const shownSchema = z.object({
  /** The person's own talk with the bot. */
  direct: z.string(),
  /** The channel that was chosen to be shown instead. */
  channel: z.string().optional(),
});
/** What a Home tab shows the settings and songs of. */
export type Shown = z.infer<typeof shownSchema>;

/** Undefined for a view that is none of ours. */
export function readShown(privateMetadata: string | undefined): Shown | undefined {
  try {
    return shownSchema.safeParse(JSON.parse(privateMetadata ?? '')).data;
  } catch {
    return undefined;
  }
}

export interface HomeContent {
  readonly sections: readonly HomeSection[];
  readonly shown: Shown;
  /** What the last button or form brought about. */
  readonly notice: Message | undefined;
  readonly person: string;
}

export function homeView({ sections, shown, notice, person }: HomeContent): types.HomeView {
  const blocks = [
    ...(notice === undefined ? [] : [...plainBlocks(notice, person), { type: 'divider' as const }]),
    channelBlock(shown.channel),
    ...sections.flatMap((section, index) => sectionBlocks(section, index, person)),
  ];
  return {
    type: 'home',
    callback_id: HOME_CALLBACK,
    private_metadata: JSON.stringify(shown),
    blocks: withOwnActionIds(blocks.slice(0, MOST_BLOCKS)),
  };
}

/** Sections do not know of each other, and no action id may come twice; what a button stands for is in its value. */
function withOwnActionIds(blocks: readonly types.KnownBlock[]): types.KnownBlock[] {
  let count = 0;
  return blocks.map((block) => {
    if (block.type !== 'actions') return block;
    const elements = block.elements.map((element) => {
      count += 1;
      return { ...element, action_id: `home:${count}` };
    });
    return { ...block, elements };
  });
}

function channelBlock(channel: string | undefined): types.KnownBlock {
  return {
    type: 'section',
    block_id: CHANNEL_MENU,
    text: {
      type: 'mrkdwn',
      text:
        channel === undefined
          ? 'This is about our direct messages. Choose a channel to see and change what is set there.'
          : `This is about <#${channel}>.`,
    },
    accessory: {
      type: 'conversations_select',
      action_id: CHANNEL_MENU,
      placeholder: { type: 'plain_text', text: 'Choose a channel' },
      filter: { include: ['public', 'private'], exclude_bot_users: true },
      ...(channel === undefined ? {} : { initial_conversation: channel }),
    },
  };
}

function sectionBlocks(section: HomeSection, index: number, person: string): types.KnownBlock[] {
  const { forms = [], ...message } = section;
  const buttons = forms.flatMap((form, place) => formButton(form, `${FORM_PREFIX}${index}:${place}`));
  return [
    ...plainBlocks(message, person),
    ...(buttons.length > 0
      ? [{ type: 'actions' as const, elements: buttons.slice(0, LIMITS.buttonsInBlock) }]
      : []),
  ];
}

/** Views take no markdown blocks, so text stands as it is. */
function plainBlocks(message: Message, person: string): types.KnownBlock[] {
  const { notify: _, ...quiet } = message;
  return render(quiet, { person, bare: true }).parts.flatMap(({ blocks }) => blocks);
}

const formSchema = z.object({
  command: z.string(),
  subcommand: z.string().optional(),
  asks: z.boolean().optional(),
  initial: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

/** Without one that does not fit: a button with half of what its form holds would lead astray. */
function formButton({ label, ...form }: FormButton, id: string): types.Button[] {
  const value = `${FORM_PREFIX}${JSON.stringify(form)}`;
  if (value.length > LIMITS.buttonValue) return [];
  const text = {
    type: 'plain_text',
    text: ellipsis(label.trim() === '' ? '…' : label, LIMITS.buttonLabel),
    emoji: false,
  } as const;
  return [{ type: 'button', action_id: id, value, text }];
}

/** The form that a pressed button opens; undefined when it opens none. */
export function pressedForm(value: string | undefined): z.infer<typeof formSchema> | undefined {
  if (!value?.startsWith(FORM_PREFIX)) return undefined;
  try {
    return formSchema.safeParse(JSON.parse(value.slice(FORM_PREFIX.length))).data;
  } catch {
    return undefined;
  }
}
