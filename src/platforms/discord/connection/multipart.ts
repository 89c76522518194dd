/** Encodes messages with files as multipart requests. Files are streamed. */
import { randomUUID } from 'node:crypto';
import type { APIEmbed, APIMessageTopLevelComponent } from 'discord.js';

/** The JSON body of a message. */
export interface Payload {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** Files to keep, by their id, and new files, by their index in `files`. */
  readonly attachments: readonly {
    readonly id: string | number;
    readonly filename?: string;
    readonly title?: string;
    readonly description?: string;
  }[];
  readonly allowed_mentions: { readonly parse: readonly []; readonly users?: readonly string[] };
}

/** A file to upload. Each attempt opens it again. */
export interface FileToSend {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** Thrown if a file could not be read during the upload; `cause` is the reason. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export interface Sending {
  readonly body: Payload;
  readonly files: readonly FileToSend[];
}

/** Returns a request's headers and streamed body: https://docs.discord.com/developers/reference#uploading-files */
export function multipartOf(json: object, files: readonly FileToSend[]) {
  const boundary = randomUUID();
  const part = (disposition: string, contentType: string) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${contentType}\r\n\r\n`,
    );
  const end = Buffer.from('\r\n');
  const last = Buffer.from(`--${boundary}--\r\n`);
  const payload = Buffer.concat([
    part('name="payload_json"', 'application/json'),
    Buffer.from(JSON.stringify(json)),
    end,
  ]);
  const parts = files.map((file, index) => ({
    file,
    head: part(`name="files[${index}]"; filename="${escapeFileName(file.name)}"`, file.contentType),
  }));
  const length = parts.reduce(
    (sum, { file, head }) => sum + head.length + file.bytes + end.length,
    payload.length + last.length,
  );
  return {
    headers: {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': String(length),
    },
    body: {
      async *[Symbol.asyncIterator]() {
        yield payload;
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

/** Escapes a file name as browsers do: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
const escapeFileName = (name: string): string =>
  name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

async function* readFile({ open }: FileToSend): AsyncGenerator<Uint8Array> {
  try {
    yield* await open();
  } catch (error) {
    throw new UnreadableFile('Could not read a file', { cause: error });
  }
}
