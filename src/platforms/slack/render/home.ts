/** Renders the Home tab: https://docs.slack.dev/surfaces/app-home */
import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { HomeSection, Message } from '../../../core/message.ts';
import type { FormButton } from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { LIMITS } from '../limits.ts';
import { mrkdwn, plainText } from './escape.ts';
import { readJson } from './modal.ts';
import { type RenderOptions, render } from './parts.ts';

/** Action ID of the menu that selects the channel. */
export const CHANNEL_MENU = 'home-channel';
/** Action IDs of the menu and of all buttons in the tab. */
export const HOME_ACTIONS = /^home[:-]/;
const FORM_PREFIX = 'form:';
/** Slack: 100 blocks per view. The rest is reserved for the menu and the answer. */
const MAX_BLOCKS = 92;

const homeChannelsSchema = z.object({
  /** The person's direct messages with the bot. */
  direct: z.string(),
  /** The selected channel, if any. */
  channel: z.string().optional(),
});
/** The channels that a Home tab refers to. */
export type HomeChannels = z.infer<typeof homeChannelsSchema>;

/** Returns undefined for views that the bot did not create. */
export const readHomeChannels = (metadata: string | undefined) => readJson(homeChannelsSchema, metadata);

export interface HomeContent {
  readonly sections: readonly HomeSection[];
  readonly shown: HomeChannels;
  /** The answer to the last button or form. */
  readonly answer: Message | undefined;
  readonly options: Pick<RenderOptions, 'person'>;
}

export async function homeView({ sections, shown, answer, options }: HomeContent): Promise<types.HomeView> {
  const rendered = await Promise.all([
    ...(answer === undefined ? [] : [plainBlocks(answer, options)]),
    ...sections.map((section) => sectionBlocks(section, shown.channel, options)),
  ]);
  const blocks = rendered.flatMap((section, index) => [
    ...(index === 0 ? [] : [{ type: 'divider' as const }]),
    ...section,
  ]);
  return {
    type: 'home',
    callback_id: 'home',
    private_metadata: JSON.stringify(shown),
    blocks: withUniqueActionIds(blocks.slice(0, MAX_BLOCKS)),
  };
}

/** Slack requires unique action IDs, and sections may repeat theirs. A button's target is in its value. */
function withUniqueActionIds(blocks: readonly types.KnownBlock[]): types.KnownBlock[] {
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
    text: mrkdwn(
      channel === undefined
        ? 'These apply to your direct messages with me. For the settings and songs of a channel, choose it here.'
        : `These apply to <#${channel}>.`,
    ),
    accessory: {
      type: 'conversations_select',
      action_id: CHANNEL_MENU,
      placeholder: { type: 'plain_text', text: 'Choose a channel' },
      filter: { include: ['public', 'private'], exclude_bot_users: true },
      ...present({ initial_conversation: channel }),
    },
  };
}

async function sectionBlocks(
  { title, startsChannel, forms = [], ...message }: HomeSection,
  channel: string | undefined,
  options: HomeContent['options'],
): Promise<types.KnownBlock[]> {
  const buttons = forms.flatMap(formButton);
  return [
    ...(await plainBlocks(present({ title }), options)),
    ...(startsChannel ? [channelBlock(channel)] : []),
    ...(await plainBlocks(message, options)),
    ...(buttons.length > 0
      ? [{ type: 'actions' as const, elements: buttons.slice(0, LIMITS.buttonsInBlock) }]
      : []),
  ];
}

/** Views do not support markdown blocks, so the text is plain. */
async function plainBlocks(message: Message, options: HomeContent['options']): Promise<types.KnownBlock[]> {
  const { notify: _, ...withoutMention } = message;
  const { parts } = await render(withoutMention, { ...options, bare: true });
  return parts.flatMap(({ blocks }) => blocks);
}

const formSchema = z.object({
  command: z.string(),
  subcommand: z.string().optional(),
  initial: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

/** Empty if the form is too long for the button's value. */
function formButton({ label, emphasis, ...form }: FormButton): types.Button[] {
  const value = `${FORM_PREFIX}${JSON.stringify(form)}`;
  if (value.length > LIMITS.buttonValue) return [];
  const text = plainText(label.trim() === '' ? '…' : label, LIMITS.buttonLabel);
  return [{ type: 'button', value, text, ...present({ style: emphasis }) }];
}

/** The form that a button opens, if any. */
export function pressedForm(value: string | undefined): z.infer<typeof formSchema> | undefined {
  return value?.startsWith(FORM_PREFIX) ? readJson(formSchema, value.slice(FORM_PREFIX.length)) : undefined;
}
