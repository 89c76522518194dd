/** response_urls: five uses within thirty minutes, for places that the bot may not write in. */
import { request } from 'undici';
import { z } from 'zod';
import type { Address } from '../../command.ts';
import { LIMITS } from './limits.ts';
import type { Part } from './render.ts';

const platformDataSchema = z.object({ responseUrl: z.string(), responseUrlSince: z.number() });

export interface ResponseUrlOptions {
  readonly now: () => number;
  readonly timeoutMs: number;
}

export interface ResponseUrls {
  /** True when the person has read it; false when the address has no URL that still works. */
  reply(address: Address, part: Part): Promise<boolean>;
}

/** What an address keeps of the interaction it came from. */
export function responseUrlData(responseUrl: string | undefined, now: number): Pick<Address, 'platformData'> {
  return responseUrl === undefined ? {} : { platformData: { responseUrl, responseUrlSince: now } };
}

export function createResponseUrls({ now, timeoutMs }: ResponseUrlOptions): ResponseUrls {
  /** Uses of URLs that have not expired; a restart forgets them, and Slack's refusal then counts. */
  const uses = new Map<string, { count: number; since: number }>();

  function take(address: Address): string | undefined {
    const read = platformDataSchema.safeParse(address.platformData);
    if (!read.success) return undefined;
    const { responseUrl, responseUrlSince } = read.data;
    for (const [url, { since }] of uses) if (now() - since > LIMITS.responseUrlMs) uses.delete(url);
    const used = uses.get(responseUrl)?.count ?? 0;
    if (used >= LIMITS.responseUrlUses || now() - responseUrlSince >= LIMITS.responseUrlMs) return undefined;
    uses.set(responseUrl, { count: used + 1, since: responseUrlSince });
    return responseUrl;
  }

  return {
    async reply(address, { text, blocks }) {
      const url = take(address);
      if (url === undefined) return false;
      try {
        const { statusCode, body } = await request(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text, blocks }),
          signal: AbortSignal.timeout(timeoutMs),
        });
        await body.dump();
        return statusCode === 200;
      } catch {
        // Another way to reach the person is tried next.
        return false;
      }
    },
  };
}
