/** Turns a message into a question, the same way on every platform. */
import type { Invocation } from '../../core/invocation.ts';
import type { FileReference } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';

/** The command that answers questions. */
export const ASK = 'ask';
/** The command that lists what the bot can do. */
const HELP = 'minstrel';

/** A person's message, without the mention of the bot. */
export interface PersonMessage {
  readonly text: string;
  readonly files: readonly FileReference[];
}

/** An image that an app shows in a message. Its type is unknown until it is fetched. */
export function embeddedImage(url: string): FileReference {
  const name = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined;
  return { name: name || 'image', url, contentType: 'image/unknown', embedded: true };
}

export const isEmptyMessage = ({ text, files }: PersonMessage): boolean => text === '' && files.length === 0;

/** The invocation for a message. An empty message opens help. */
export function questionIn(
  message: PersonMessage,
): Pick<Invocation, 'command' | 'options' | 'isMessage' | 'files'> {
  if (isEmptyMessage(message)) return { command: HELP, options: {} };
  const { text, files } = message;
  const image = files.find(({ contentType }) => contentType?.startsWith('image/'));
  const question = text || (image ? 'What is in this image?' : 'What is in this file?');
  return {
    command: ASK,
    options: present({ question, image }),
    isMessage: true,
    ...present({ files: files.length > 0 ? files : undefined }),
  };
}
