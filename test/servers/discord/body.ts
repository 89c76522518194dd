import type { IncomingMessage } from 'node:http';
import { Refusal, requireValid } from './refusal.ts';

export interface UploadedFile {
  /** The n of `files[n]`. */
  index: string;
  filename: string;
  contentType: string;
  bytes: Uint8Array;
}

export interface Body {
  json: unknown;
  files: UploadedFile[];
}

/** Reads JSON, or multipart with `payload_json` and `files[n]`. @throws Refusal 50109, 50035 */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return { json: undefined, files: [] };
  const contentType = request.headers['content-type'] ?? '';
  if (contentType.startsWith('multipart/form-data')) return await multipart(bytes, contentType);
  requireValid(contentType.startsWith('application/json'), `content type ${contentType}`);
  return { json: parseJson(bytes.toString('utf8')), files: [] };
}

async function multipart(bytes: Buffer<ArrayBuffer>, contentType: string): Promise<Body> {
  const form = await new Response(bytes, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw new Refusal('invalidForm', 'the multipart body cannot be read');
    });
  let json: unknown = {};
  const files: UploadedFile[] = [];
  for (const [name, value] of form) {
    if (name === 'payload_json') {
      requireValid(typeof value === 'string', 'payload_json must be text');
      json = parseJson(value);
      continue;
    }
    const index = /^files\[(\d+)\]$/.exec(name)?.[1];
    requireValid(index !== undefined && typeof value !== 'string', `multipart part ${name}`);
    files.push({
      index,
      filename: value.name,
      contentType: value.type,
      bytes: new Uint8Array(await value.arrayBuffer()),
    });
  }
  return { json, files };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalidJson');
  }
}
