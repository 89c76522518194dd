/** Draws messages in Discord's layout, without any of Discord's own assets. */
import { z } from 'zod';
import type { StoredMessage } from '../servers/discord/index.ts';
import { type Html, html, markdown, picture, player } from './html.ts';

const buttonSchema = z.object({
  type: z.literal(2),
  style: z.number(),
  label: z.string(),
  emoji: z.object({ name: z.string() }).optional(),
});
const menuSchema = z.object({ type: z.literal(3), placeholder: z.string() });
const rowSchema = z.object({
  type: z.literal(1),
  components: z.array(z.discriminatedUnion('type', [buttonSchema, menuSchema])),
});
const embedSchema = z.object({
  title: z.string().optional(),
  color: z.number().default(0x6d6f78),
  description: z.string().optional(),
  image: z.object({ url: z.string() }).optional(),
  fields: z
    .array(z.object({ name: z.string(), value: z.string(), inline: z.boolean().default(false) }))
    .default([]),
  footer: z.object({ text: z.string() }).optional(),
});

const PRIMARY = 1;

/** Draws each message below its command. Throws ZodError for unsupported components. */
export async function discordPage(messages: readonly (readonly [string, StoredMessage])[]): Promise<Html> {
  const rendered = await Promise.all(messages.map(([command, message]) => draw(command, message)));
  return html`<style>${{ html: STYLE }}</style><main class="discord"><header># music</header>${rendered}</main>`;
}

async function draw(
  command: string,
  { content, embeds, attachments, components }: StoredMessage,
): Promise<Html> {
  const cards = await Promise.all(embeds.map((embed) => card(embedSchema.parse(embed), attachments)));
  const sounds = attachments.filter(({ contentType }) => contentType.startsWith('audio/'));
  const players = await Promise.all(sounds.map(({ filename, bytes }) => player(filename, bytes)));
  const rows = z
    .array(rowSchema)
    .parse(components)
    .map((row) => html`<div class="row">${row.components.map(control)}</div>`);
  return html`<article>
    <div class="asked"><b>Ada</b> used <i>/${command}</i></div>
    <div class="avatar"></div>
    <div class="body">
      <div class="name"><b>Minstrel</b><span class="tag">APP</span><time>Today at 18:04</time></div>
      ${content === '' ? undefined : html`<p>${markdown(content)}</p>`}${players}${cards}${rows}
    </div>
  </article>`;
}

async function card(
  embed: z.infer<typeof embedSchema>,
  attachments: StoredMessage['attachments'],
): Promise<Html> {
  const cover = attachments.find(({ filename }) => embed.image?.url === `attachment://${filename}`);
  const fields = embed.fields.map(
    ({ name, value, inline }) =>
      html`<div class="${inline ? '' : 'wide'}"><dt>${markdown(name)}</dt><dd>${markdown(value)}</dd></div>`,
  );
  return html`<div class="embed" style="border-color:#${embed.color.toString(16).padStart(6, '0')}">
    <div>
      ${embed.title && html`<h3>${markdown(embed.title)}</h3>`}
      ${embed.description && html`<p>${markdown(embed.description)}</p>`}
      ${fields.length > 0 ? html`<dl>${fields}</dl>` : undefined}
      ${cover && html`<div class="cover">${await picture(cover.bytes, 300)}</div>`}
      <small>${embed.footer?.text}</small>
    </div>
  </div>`;
}

function control(component: z.infer<typeof rowSchema>['components'][number]): Html {
  if (component.type === 3) return html`<span class="menu">${component.placeholder}<i></i></span>`;
  const icon = component.emoji && html`<span class="emoji">${component.emoji.name}</span>`;
  return html`<span class="button ${component.style === PRIMARY ? 'primary' : ''}">${icon}${component.label}</span>`;
}

const STYLE = `
.discord { width: 560px; padding: 0 0 18px; background: #313338; color: #dbdee1; font-size: 15px; line-height: 1.35; }
.discord header { padding: 12px 18px; border-bottom: 1px solid #26282c; color: #f2f3f5; font-weight: 700; margin-bottom: 14px; }
.discord article { position: relative; padding: 2px 18px 12px 74px; }
.discord .asked { color: #a5a9b1; font-size: 13px; margin: 0 0 4px; }
.discord .asked b { color: #e8b5d8; } .discord .asked i { color: #a9b6ff; font-style: normal; }
.discord .avatar { left: 18px; width: 40px; height: 40px; border-radius: 50%; }
.discord .name b { color: #8fd3b6; } .discord time { color: #949ba4; font-size: 12px; }
.discord .tag { background: #5662d6; color: #fff; border-radius: 3px; font-size: 10px; font-weight: 700; padding: 1px 5px; margin: 0 7px; vertical-align: 1px; }
.discord p { margin: 3px 0 6px; }
.discord .embed { display: flex; justify-content: space-between; width: 432px; background: #2b2d31; border-left: 4px solid; border-radius: 4px; padding: 12px 14px 12px 12px; margin: 6px 0; }
.discord h3 { margin: 0 0 4px; font-size: 16px; color: #f2f3f5; }
.discord dl { display: flex; flex-wrap: wrap; gap: 6px 34px; margin: 8px 0 0; font-size: 14px; } .discord dl .wide { width: 100%; }
.discord .cover img { height: auto; margin-top: 12px; } .discord .emoji { margin-right: 6px; } .discord dt { font-weight: 700; color: #f2f3f5; } .discord dd { margin: 0; }
.discord .embed img { border-radius: 4px; } .discord .embed small { color: #949ba4; }
.discord .file { width: 430px; background: #2b2d31; border: 1px solid #232428; border-radius: 8px; padding: 10px 14px; margin: 6px 0; }
.discord .file b { color: #56b0f5; font-weight: 400; }
.discord .bar { color: #b5bac1; background: #1e1f22; } .discord .wave i { background: #80848e; } .discord .play { border-left-color: #dbdee1; }
.discord .row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 0; }
.discord .button { background: #4e5058; color: #fff; border-radius: 3px; padding: 6px 14px; font-size: 14px; } .discord .primary { background: #5662d6; }
.discord .menu { width: 406px; background: #1e1f22; color: #949ba4; border-radius: 4px; padding: 8px 12px; display: flex; justify-content: space-between; }
`;
