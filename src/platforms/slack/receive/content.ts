/** Collects the text and files of a message, including app blocks, attachments and forwarded messages. */
import { z } from 'zod';
import { isPlainObject } from '../../../core/invocation.ts';
import type { FileReference } from '../../../core/options.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { embeddedImage, type PersonMessage } from '../../shared/question.ts';
import { call, type SlackTools } from '../connection/client.ts';
import type { Workspace } from '../connection/workspaces.ts';
import { slackErrorOf } from '../errors.ts';
import { escapeMrkdwn } from '../render/escape.ts';
import { fileReference } from '../render/modal.ts';
import { type Talk, textWithNames } from './incoming-message.ts';

type ContentTools = SlackTools & Pick<Workspace, 'identity' | 'people'> & { readonly log: Log };
type MessageContent = Pick<Talk, 'text' | 'files' | 'blocks' | 'attachments' | 'bot_id'>;

export interface TalkContent extends PersonMessage {
  /** Messages to the person about files that cannot be read. */
  readonly problems: readonly string[];
}

const OTHER_WORKSPACE_FILE =
  "I couldn't open a file in your message because it belongs to another workspace. Upload it here and try again.";
const EXTERNAL_FILE =
  "I can't open files that are stored outside Slack, such as in Google Drive. If you want me to read one, upload a copy here.";

export async function contentOfTalk(message: MessageContent, tools: ContentTools): Promise<TalkContent> {
  const { attachments } = message;
  // A person's blocks repeat the text. An app's message may consist only of blocks.
  const ownBlocks = message.bot_id === undefined ? [] : message.blocks;
  const blocks = [...ownBlocks, ...attachments.flatMap(({ blocks: nested }) => nested)];
  const ownText = textOfBlocks(ownBlocks) || message.text;
  const text = [ownText, ...attachments.map(attachmentText)].filter(Boolean).join('\n\n');
  const { files, problems } = await filesOf(
    [...message.files, ...attachments.flatMap((attachment) => attachment.files), ...filesOfBlocks(blocks)],
    tools,
  );
  const pictures = [...attachments.flatMap(pictureOf), ...blocks.flatMap(pictureOfBlock)];
  return {
    text: await textWithNames(text, await tools.identity.read(), tools.people),
    files: [...files, ...pictures],
    problems,
  };
}

/**
 * Text of an attachment or a shared message:
 * https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
 */
function attachmentText(attachment: Talk['attachments'][number]): string {
  const { pretext, author_name: author, title, title_link: link, text, fields, footer } = attachment;
  const heading = title && link ? `${title} (${link})` : title;
  const content =
    textOfBlocks(attachment.blocks) ||
    [heading, text, ...fields.map((field) => `${field.title ?? ''}: ${field.value ?? ''}`), footer]
      .filter(Boolean)
      .join('\n') ||
    (author || pretext ? '' : (attachment.fallback ?? ''));
  if (!attachment.is_share) return [pretext, author, content].filter(Boolean).join('\n');
  return `Forwarded message${author ? ` from ${author}` : ''}:\n\n${content}`;
}

/** The image of an attachment. Previews of links are ignored. */
function pictureOf({ image_url: url, from_url: source }: Talk['attachments'][number]): FileReference[] {
  return url === undefined || source !== undefined ? [] : [embeddedImage(url)];
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isPlainObject(value) ? { ...value } : {});
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const textOfBlocks = (blocks: readonly unknown[]): string =>
  blocks.map(textOfBlock).filter(Boolean).join('\n\n');

/** Text of a block as mrkdwn: https://docs.slack.dev/reference/block-kit/blocks */
function textOfBlock(value: unknown): string {
  const block = fieldsOf(value);
  switch (block.type) {
    case 'section':
      return [block.text, ...listOf(block.fields)].map(textOfObject).filter(Boolean).join('\n');
    case 'header':
      return textOfObject(block.text);
    case 'context':
      return listOf(block.elements).map(textOfObject).filter(Boolean).join(' ');
    case 'markdown':
      return escapeMrkdwn(textIn(block.text));
    case 'image':
      return textOfObject(block.title) || textIn(block.alt_text);
    case 'video':
      return [textOfObject(block.title), textIn(block.title_url), textOfObject(block.description)]
        .filter(Boolean)
        .join('\n');
    case 'table':
      return listOf(block.rows)
        .map((row) => listOf(row).map(textOfRichText).join(' | '))
        .join('\n');
    case 'rich_text':
      return textOfRichText(block);
    default:
      return '';
  }
}

const textOfObject = (value: unknown): string => textIn(fieldsOf(value).text);

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function textOfRichText(value: unknown): string {
  const node = fieldsOf(value);
  const children = listOf(node.elements);
  const joinChildren = (separator: string) => children.map(textOfRichText).join(separator);
  switch (node.type) {
    case 'rich_text':
      return joinChildren('\n');
    case 'rich_text_list':
      return children
        .map((item, index) => `${node.style === 'ordered' ? `${index + 1}.` : '-'} ${textOfRichText(item)}`)
        .join('\n');
    case 'rich_text_quote':
      return `> ${joinChildren('').replaceAll('\n', '\n> ')}`;
    case 'rich_text_preformatted':
      return `\`\`\`\n${joinChildren('')}\n\`\`\``;
    case 'rich_text_section':
      return joinChildren('');
    case 'link': {
      const [text, url] = [textIn(node.text), textIn(node.url)];
      return escapeMrkdwn(text === '' || text === url ? url : `${text} (${url})`);
    }
    case 'user':
      return `<@${textIn(node.user_id)}>`;
    case 'channel':
      return `<#${textIn(node.channel_id)}>`;
    case 'usergroup':
      return `<!subteam^${textIn(node.usergroup_id)}>`;
    case 'broadcast':
      return `<!${textIn(node.range)}>`;
    case 'emoji':
      return `:${textIn(node.name)}:`;
    case 'date':
      return escapeMrkdwn(textIn(node.fallback));
    default:
      return escapeMrkdwn(textIn(node.text));
  }
}

const filesOfBlocks = (blocks: readonly unknown[]): unknown[] =>
  blocks.flatMap((block) => fieldsOf(block).slack_file ?? []);

/** The id in the address of an uploaded image, such as `https://files.slack.com/files-pri/T012-F034/fox.png`. */
const UPLOADED = /\/T\w+-(F\w+)\//;

/**
 * Images that the bot uploaded for its own message. Slack returns them as addresses, which only the bot can open. Others
 * could name any file in their blocks, so those of other apps are not opened.
 */
export async function ownPictures(
  { user, blocks }: Pick<Talk, 'user' | 'blocks'>,
  tools: ContentTools,
): Promise<readonly FileReference[]> {
  const { botUser } = await tools.identity.read();
  if (user !== botUser) return [];
  const images = blocks.map(fieldsOf).flatMap((block) => [block, block.hero_image, block.accessory]);
  const ids = images.flatMap((image) => UPLOADED.exec(textIn(fieldsOf(image).image_url))?.[1] ?? []);
  const { files } = await filesOf(
    ids.map((id) => ({ id, file_access: 'check_file_info' })),
    tools,
  );
  return files;
}

function pictureOfBlock(value: unknown): FileReference[] {
  const { type, image_url: url } = fieldsOf(value);
  return type === 'image' && typeof url === 'string' ? [embeddedImage(url)] : [];
}

/** On Slack Connect, an event may contain only the ID of a file. */
const idOnlySchema = z.object({ id: z.string(), file_access: z.literal('check_file_info') });
/** https://docs.slack.dev/messaging/working-with-files#remote */
const externalSchema = z.object({ is_external: z.literal(true) });

async function filesOf(
  files: readonly unknown[],
  tools: ContentTools,
): Promise<{ readonly files: FileReference[]; readonly problems: string[] }> {
  const problems = new Set<string>();
  const resolved = await Promise.all(
    files.map(async (file) => {
      if (externalSchema.safeParse(file).success) {
        problems.add(EXTERNAL_FILE);
        return undefined;
      }
      const { data } = idOnlySchema.safeParse(file);
      if (data === undefined) return file;
      try {
        const info = () => tools.web.files.info({ file: data.id });
        return (await call(info, { repeatable: true }, tools)).file;
      } catch (error) {
        tools.log.warn({ err: error, code: slackErrorOf(error) }, 'Could not read a Slack Connect file');
        problems.add(OTHER_WORKSPACE_FILE);
        return undefined;
      }
    }),
  );
  return { files: resolved.map(fileReference).filter((file) => file !== undefined), problems: [...problems] };
}
