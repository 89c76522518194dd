import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { APIEmbed, APIMessageTopLevelComponent } from 'discord.js';
import type { MediaReader } from '../../platform.ts';
import type { Page, PageFile } from '../render/render.ts';

/** The parts of a message that is sent. */
export interface Payload {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** Files that stay, and those of this request by their index in `files`. */
  readonly attachments: readonly {
    readonly id: string | number;
    readonly filename?: string;
    readonly description?: string;
  }[];
  readonly allowed_mentions: { readonly parse: readonly []; readonly users?: readonly string[] };
}

/** A file of a request. Each try of the request opens it anew. */
export interface FileToSend {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** A file could not be read while it was sent; `cause` says why. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export interface Sending {
  readonly body: Payload;
  readonly files: readonly FileToSend[];
}

/** @param mentioned the only people who are notified */
export const textSending = (content: string, mentioned: readonly string[] = []): Sending => ({
  body: {
    content,
    embeds: [],
    components: [],
    attachments: [],
    allowed_mentions: { parse: [], users: mentioned },
  },
  files: [],
});

/** A file that a message has already. */
export interface PostedFile {
  readonly name: string;
  /** Names its bytes, so that an edit need not upload them again. */
  readonly key: string;
  /** Discord's id of the attachment. */
  readonly id: string;
}

/** Equal for equal bytes. */
const keyOf = ({ source }: PageFile): string =>
  source.type === 'kept' ? source.file.name : createHash('sha256').update(source.text).digest('base64url');

/** A page with its files, except those that the message has already. */
export function sendingOf(page: Page, posted: readonly PostedFile[], media: MediaReader): Sending {
  const files: FileToSend[] = [];
  const attachments: Payload['attachments'][number][] = [];
  for (const file of page.files) {
    const { name, alt } = file;
    const same = posted.find((one) => one.name === name && one.key === keyOf(file));
    if (same) {
      attachments.push({ id: same.id });
    } else {
      attachments.push({ id: files.length, filename: name, ...(alt ? { description: alt } : {}) });
      files.push(fileToSend(file, media));
    }
  }
  const { content, embeds, components } = page;
  return { body: { content, embeds, components, attachments, allowed_mentions: { parse: [] } }, files };
}

/** The files of a message after it took a page. */
export function attachedFiles(
  page: Page,
  attached: readonly { readonly id: string; readonly filename: string }[],
): PostedFile[] {
  return page.files.flatMap((file) => {
    const sent = attached.find((attachment) => attachment.filename === file.name);
    return sent ? [{ name: file.name, key: keyOf(file), id: sent.id }] : [];
  });
}

function fileToSend({ name, contentType, source }: PageFile, media: MediaReader): FileToSend {
  if (source.type === 'kept') {
    const { file } = source;
    return { name, contentType, bytes: file.bytes, open: () => media.open(file) };
  }
  const text = Buffer.from(source.text, 'utf8');
  return { name, contentType, bytes: text.length, open: async () => Readable.from([text]) };
}

/**
 * A request's body of Discord's form: https://docs.discord.com/developers/reference#uploading-files. The files are not
 * held in memory.
 */
export function formOf(json: object, files: readonly FileToSend[]) {
  const boundary = randomUUID();
  const part = (disposition: string, contentType: string) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${contentType}\r\n\r\n`,
    );
  const end = Buffer.from('\r\n');
  const last = Buffer.from(`--${boundary}--\r\n`);
  const told = Buffer.concat([
    part('name="payload_json"', 'application/json'),
    Buffer.from(JSON.stringify(json)),
    end,
  ]);
  const parts = files.map((file, index) => ({
    file,
    head: part(`name="files[${index}]"; filename="${quoted(file.name)}"`, file.contentType),
  }));
  const length = parts.reduce(
    (sum, { file, head }) => sum + head.length + file.bytes + end.length,
    told.length + last.length,
  );
  return {
    headers: {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': String(length),
    },
    body: {
      async *[Symbol.asyncIterator]() {
        yield told;
        for (const { file, head } of parts) {
          yield head;
          yield* readFile(file);
          yield end;
        }
        yield last;
      },
    },
  };
}

/** As browsers write names: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
const quoted = (name: string): string =>
  name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

async function* readFile({ open }: FileToSend): AsyncGenerator<Uint8Array> {
  try {
    yield* await open();
  } catch (error) {
    throw new UnreadableFile('A file could not be read', { cause: error });
  }
}
