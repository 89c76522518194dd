import { z } from 'zod';
import { DISCORD } from './limits.ts';
import { requireValid } from './refusal.ts';

const url = z
  .string()
  .max(2_048)
  .regex(/^(https?|attachment):\/\/\S+$/, 'scheme must be http, https or attachment');
const link = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\/\S+$/, 'scheme must be http or https');

const embedSchema = z.object({
  title: z.string().max(DISCORD.embedTitle).optional(),
  type: z.literal('rich').optional(),
  description: z.string().max(DISCORD.embedDescription).optional(),
  url: link.optional(),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  color: z.int().min(0).max(0xffffff).nullish(),
  footer: z.object({ text: z.string().min(1).max(DISCORD.embedFooter), icon_url: url.optional() }).optional(),
  image: z.object({ url }).optional(),
  thumbnail: z.object({ url }).optional(),
  author: z
    .object({
      name: z.string().min(1).max(DISCORD.embedAuthor),
      url: link.optional(),
      icon_url: url.optional(),
    })
    .optional(),
  fields: z
    .array(
      z.object({
        name: z.string().trim().min(1).max(DISCORD.embedFieldName),
        value: z.string().trim().min(1).max(DISCORD.embedFieldValue),
        inline: z.boolean().optional(),
      }),
    )
    .max(DISCORD.embedFields)
    .optional(),
});
export type Embed = z.infer<typeof embedSchema>;

/** Returns the characters counted towards a message's 6000. */
const characters = (embed: Embed): number =>
  (embed.title?.length ?? 0) +
  (embed.description?.length ?? 0) +
  (embed.footer?.text.length ?? 0) +
  (embed.author?.name.length ?? 0) +
  (embed.fields ?? []).reduce((sum, field) => sum + field.name.length + field.value.length, 0);

/** @throws Refusal 50035 */
export function checkEmbeds(value: unknown): Embed[] {
  const parsed = z.array(embedSchema).max(DISCORD.embeds).safeParse(value);
  requireValid(parsed.success, `embeds: ${parsed.error?.message}`);
  for (const embed of parsed.data) {
    const visible = characters(embed) > 0 || embed.image !== undefined || embed.thumbnail !== undefined;
    requireValid(visible, 'embeds: an embed must show something');
  }
  const total = parsed.data.reduce((sum, embed) => sum + characters(embed), 0);
  requireValid(total <= DISCORD.embedsTotal, `embeds: ${total} characters together`);
  return parsed.data;
}

/** Returns the URLs of an embed's images. */
export const embedMedia = (embed: Embed): string[] =>
  [embed.image?.url, embed.thumbnail?.url, embed.footer?.icon_url, embed.author?.icon_url].filter(
    (u) => u !== undefined,
  );
