/** What is sent to Discord: the parts of a message, and files, which are streamed. */
import { randomUUID } from 'node:crypto';
import type { APIEmbed, APIMessageTopLevelComponent } from 'discord.js';

/** The parts of a message that is sent. */
export interface Payload {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** Files that stay, and those of this request by their index in `files`. */
  readonly attachments: readonly {
    readonly id: string | number;
    readonly filename?: string;
    readonly title?: string;
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

/** Could not read a file while it was sent; `cause` says why. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export interface Sending {
  readonly body: Payload;
  readonly files: readonly FileToSend[];
}

/**
 * A request's body of Discord's form: https://docs.discord.com/developers/reference#uploading-files. The files are not
 * held in memory.
 */
export function multipartOf(json: object, files: readonly FileToSend[]) {
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
    throw new UnreadableFile('Could not read a file', { cause: error });
  }
}
