/** From a message to a question: which text, which files, and which message it is about. The same on every chat. */
import type { Invocation } from '../../core/invocation.ts';
import type { FileReference } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';

/** The command that answers. */
export const ASK = 'ask';
/** The command that says what the bot can do. */
const HELP = 'minstrel';

/** What a person wrote, without the bot's name. */
export interface SpokenMessage {
  readonly text: string;
  readonly files: readonly FileReference[];
}

export const isBare = ({ text, files }: SpokenMessage): boolean => text === '' && files.length === 0;

/** What a message asks. Without words and files it asks what the bot can do. */
export function questionIn(
  message: SpokenMessage,
): Pick<Invocation, 'command' | 'options' | 'isMessage' | 'files'> {
  if (isBare(message)) return { command: HELP, options: {} };
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
