/** Draws messages and forms in Discord's layout, without any of Discord's own assets. */
import { z } from 'zod';
import type { StoredMessage } from '../servers/discord/index.ts';
import { type Html, html, markdown, phrase, picture, player, type Scheme } from './html.ts';

const optionSchema = z.object({
  label: z.string(),
  description: z.string().optional(),
  emoji: z.object({ name: z.string() }).optional(),
});
const buttonSchema = z.object({
  type: z.literal(2),
  style: z.number(),
  label: z.string(),
  emoji: z.object({ name: z.string() }).optional(),
});
const menuSchema = z.object({ type: z.literal(3), placeholder: z.string(), options: z.array(optionSchema) });
const rowSchema = z.object({
  type: z.literal(1),
  components: z.array(z.discriminatedUnion('type', [buttonSchema, menuSchema])),
});
const embedSchema = z.object({
  title: z.string().optional(),
  url: z.string().optional(),
  color: z.number().default(0x6d6f78),
  description: z.string().optional(),
  image: z.object({ url: z.string() }).optional(),
  thumbnail: z.object({ url: z.string() }).optional(),
  fields: z
    .array(z.object({ name: z.string(), value: z.string(), inline: z.boolean().default(false) }))
    .default([]),
  footer: z.object({ text: z.string() }).optional(),
});

const PRIMARY = 1;
const LINK = 5;

export interface Requested {
  /** What the person did, as Discord shows it: `used /song`. Undefined for a message that was not requested. */
  readonly by?: string;
  readonly message: Pick<StoredMessage, 'content' | 'embeds' | 'components' | 'attachments'> & {
    readonly onlyFor?: string | null;
  };
  /** Draws the menu's options below it. */
  readonly openMenu?: boolean;
}

/** Draws each message below its command. Throws ZodError for unsupported components. */
export async function discordPage(messages: readonly Requested[], scheme: Scheme = 'dark'): Promise<Html> {
  const rendered = await Promise.all(messages.map(draw));
  return html`<style>${{ html: STYLE }}</style><main class="discord ${scheme}"><header># music</header>${rendered}</main>`;
}

async function draw({ by, message, openMenu = false }: Requested): Promise<Html> {
  const { content, embeds, attachments, components, onlyFor } = message;
  const cards = await Promise.all(embeds.map((embed) => card(embedSchema.parse(embed), attachments)));
  const inCards = JSON.stringify(embeds);
  const shown = attachments.filter(({ filename }) => !inCards.includes(`attachment://${filename}`));
  const files = await Promise.all(shown.map((file) => attachment(file, shown.length)));
  const rows = z
    .array(rowSchema)
    .parse(components)
    .map((row) => html`<div class="row">${row.components.map((part) => control(part, openMenu))}</div>`);
  return html`<article>
    ${by === undefined ? undefined : html`<div class="asked"><b>Ada</b> used <i>/${by}</i></div>`}
    <div class="avatar"></div>
    <div class="body">
      <div class="name"><b>Minstrel</b><span class="tag">APP</span><time>Today at 18:04</time></div>
      ${content === '' ? undefined : discordMarkdown(content)}${files}${cards}${rows}
      ${onlyFor ? html`<div class="only">Only you can see this · <u>Dismiss message</u></div>` : undefined}
    </div>
  </article>`;
}

/** Discord's own notation, as HTML: small print and times. */
function discordMarkdown(text: string): Html {
  const { html: rendered } = markdown(text.replace(/\n(?=-# )/g, '\n\n'));
  return {
    html: rendered
      .replace(/<p>-# ([\s\S]*?)<\/p>/g, '<p class="small">$1</p>')
      .replace(
        /&lt;t:(\d+)(?::(\w))?&gt;/g,
        (_, seconds: string, style = 'f') => `<time class="live">${timeOf(Number(seconds), style)}</time>`,
      ),
  };
}

function timeOf(seconds: number, style: string): string {
  const at = new Date(seconds * 1000);
  const options = { t: 'HH:mm', T: 'ss', d: 'd', D: 'D', f: 'f', F: 'F' };
  if (style === 'R') return at.getTime() > Date.now() ? 'in 3 minutes' : '12 seconds ago';
  if (style === 't' || style === 'T')
    return at.toISOString().slice(11, style in options && style === 'T' ? 19 : 16);
  const day = new Intl.DateTimeFormat('en-GB', {
    dateStyle: style === 'd' ? 'short' : 'long',
    timeZone: 'UTC',
  }).format(at);
  return style === 'd' || style === 'D' ? day : `${day} at ${at.toISOString().slice(11, 16)}`;
}

async function attachment(
  { filename, title, contentType, bytes }: StoredMessage['attachments'][number],
  count: number,
): Promise<Html> {
  const [, extension = ''] = /(\.\w+)$/.exec(filename) ?? [];
  const name = title === null ? filename : `${title}${extension}`;
  if (contentType.startsWith('audio/')) return player(name, bytes);
  if (contentType.startsWith('image/'))
    return html`<div class="media">${await picture(bytes, count > 1 ? { width: 262 } : { width: 550, height: 350 })}</div>`;
  if (contentType.startsWith('video/')) return html`<div class="video"><span class="play"></span></div>`;
  return html`<div class="file"><b>${name}</b><small>${Math.ceil(bytes.length / 1000)} kB</small></div>`;
}

async function card(
  embed: z.infer<typeof embedSchema>,
  attachments: StoredMessage['attachments'],
): Promise<Html> {
  const named = (place: { readonly url: string } | undefined) =>
    attachments.find(({ filename }) => place?.url === `attachment://${filename}`);
  const cover = named(embed.image);
  const thumbnail = named(embed.thumbnail);
  const fields = embed.fields.map(
    ({ name, value, inline }) =>
      html`<div class="${inline ? '' : 'wide'}"><dt>${phrase(name)}</dt><dd>${discordMarkdown(value)}</dd></div>`,
  );
  return html`<div class="embed ${cover ? 'with-image' : ''}" style="border-left-color:#${embed.color.toString(16).padStart(6, '0')}">
    ${thumbnail && html`<div class="thumbnail">${await picture(thumbnail.bytes, { width: 80, height: 80 })}</div>`}
    ${embed.title && html`<h3 class="${embed.url ? 'link' : ''}">${phrase(embed.title)}</h3>`}
    ${embed.description && discordMarkdown(embed.description)}
    ${fields.length > 0 ? html`<dl>${fields}</dl>` : undefined}
    ${cover && html`<div class="cover">${await picture(cover.bytes, { width: 400, height: 300 })}</div>`}
    ${embed.footer && html`<small>${embed.footer.text}</small>`}
  </div>`;
}

function control(component: z.infer<typeof rowSchema>['components'][number], openMenu: boolean): Html {
  const icon = (emoji: { readonly name: string } | undefined) =>
    emoji && html`<span class="emoji">${emoji.name}</span>`;
  if (component.type === 2) {
    const { style, label, emoji } = component;
    const look = style === PRIMARY ? 'primary' : style === LINK ? 'external' : '';
    return html`<span class="button ${look}">${icon(emoji)}${label}</span>`;
  }
  const options = component.options.map(
    ({ label, description, emoji }) =>
      html`<div>${icon(emoji)}<span><b>${label}</b>${description && html`<small>${description}</small>`}</span></div>`,
  );
  return html`<div class="select"><span class="menu">${component.placeholder}<i></i></span>${
    openMenu ? html`<div class="options">${options}</div>` : undefined
  }</div>`;
}

const fieldSchema = z.object({
  label: z.string(),
  description: z.string().optional(),
  component: z.object({
    type: z.number(),
    style: z.number().optional(),
    required: z.boolean().optional(),
    value: z.string().optional(),
    placeholder: z.string().optional(),
    options: z.array(optionSchema.extend({ default: z.boolean().optional() })).optional(),
  }),
});
const modalSchema = z.object({ title: z.string(), components: z.array(fieldSchema) });

const [PARAGRAPH, SELECT, UPLOAD, CHECKBOX] = [2, 3, 19, 23];

/** Draws a form. Its submit button is Discord's. Throws ZodError for unsupported components. */
export function discordForm(modal: unknown, scheme: Scheme): Html {
  const { title, components } = modalSchema.parse(modal);
  const fields = components.map(({ label, description, component }) => {
    const { type, style, required, value = '', options = [] } = component;
    const chosen = options.find((option) => option.default)?.label;
    const kind = style === PARAGRAPH ? 'area' : '';
    const field =
      type === CHECKBOX
        ? html`<span class="box"></span>`
        : type === UPLOAD
          ? html`<div class="drop">Drop a file here or <u>browse</u></div>`
          : type === SELECT
            ? html`<span class="menu">${chosen ?? component.placeholder ?? 'Make a selection'}<i></i></span>`
            : html`<div class="input ${kind}">${value}</div>`;
    return html`<div class="field"><b>${label}${required ? html` <em>*</em>` : undefined}</b>
      ${description && html`<small>${description}</small>`}${field}</div>`;
  });
  return html`<style>${{ html: STYLE }}</style><main class="discord form ${scheme}"><h2>${title}</h2>${fields}
    <div class="row"><span class="button">Cancel</span><span class="button primary">Submit</span></div></main>`;
}

const STYLE = `
.discord { --back: #1a1a1e; --card: #242429; --line: #303035; --text: #dfe0e2; --head: #fbfbfb; --muted: #94959c; --button: #2a2a2f; --link: #7da3ff; --inset: #17171a; width: 660px; padding: 0 0 18px; background: var(--back); color: var(--text); font-size: 15px; line-height: 1.375; }
.discord.light { --back: #fff; --card: #fff; --line: #dfdfe3; --text: #2f3035; --head: #1f2024; --muted: #63646c; --button: #ececee; --link: #0a5fd1; --inset: #f3f3f4; }
.discord header { padding: 12px 18px; border-bottom: 1px solid var(--line); color: var(--head); font-weight: 700; margin-bottom: 14px; }
.discord article { position: relative; padding: 2px 18px 14px 74px; }
.discord .asked { color: var(--muted); font-size: 13px; margin: 0 0 4px; }
.discord .asked b { color: var(--text); } .discord .asked i { color: var(--link); font-style: normal; }
.discord .avatar { left: 18px; width: 40px; height: 40px; border-radius: 50%; }
.discord .name b { color: var(--head); font-weight: 600; } .discord .name time { color: var(--muted); font-size: 12px; }
.discord .tag { background: #5662d6; color: #fff; border-radius: 4px; font-size: 10px; font-weight: 700; padding: 1px 5px; margin: 0 7px; vertical-align: 1px; }
.discord p { margin: 3px 0 6px; } .discord a { color: var(--link); text-decoration: none; } .discord .small, .discord .only { color: var(--muted); font-size: 13px; } .discord .only { margin-top: 8px; } .discord .only u { color: var(--link); text-decoration: none; }
.discord ul, .discord ol { margin: 4px 0; padding-left: 22px; } .discord li { margin: 2px 0; } .discord li p { margin: 0; }
.discord h1 { font-size: 22px; margin: 10px 0 6px; color: var(--head); } .discord h2 { font-size: 19px; margin: 10px 0 6px; color: var(--head); }
.discord code { background: var(--inset); border: 1px solid var(--line); border-radius: 4px; padding: 0 3px; font: 13px/1.4 Mono, monospace; } .discord pre { margin: 6px 0; } .discord pre code { display: block; padding: 8px 10px; white-space: pre-wrap; }
.discord blockquote { margin: 4px 0 8px; padding-left: 12px; border-left: 4px solid var(--line); border-radius: 2px; }
.discord .live { background: color-mix(in srgb, var(--muted) 22%, transparent); border-radius: 3px; padding: 0 3px; }
.discord .embed { width: fit-content; max-width: 486px; background: var(--card); border: 1px solid var(--line); border-left: 4px solid; border-radius: 4px; padding: 10px 16px 14px 12px; margin: 6px 0; font-size: 14px; }
.discord .embed.with-image { max-width: 400px; } .discord .thumbnail { float: right; margin: 4px 0 4px 16px; }
.discord h3 { margin: 4px 0 6px; font-size: 15px; color: var(--head); } .discord h3.link { color: var(--link); }
.discord dl { display: grid; grid-template-columns: repeat(3, auto); gap: 8px 26px; margin: 8px 0 0; justify-content: start; } .discord dl .wide { grid-column: 1 / -1; }
.discord dt { font-weight: 700; color: var(--head); } .discord dd { margin: 0; } .discord dd p { margin: 0; }
.discord .cover img, .discord .media img { display: block; border-radius: 6px; margin-top: 12px; } .discord .media { display: inline-block; margin-right: 4px; } .discord .media img { margin: 4px 0; border-radius: 8px; }
.discord .video { width: 400px; height: 225px; background: #000; border-radius: 8px; display: grid; place-items: center; margin: 6px 0; } .discord .video .play { border-width: 18px 0 18px 28px; border-left-color: #fff; }
.discord .embed small { display: block; color: var(--muted); font-size: 12px; margin-top: 10px; }
.discord .file { width: 430px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; margin: 6px 0; box-sizing: border-box; } .discord .file small { display: block; color: var(--muted); }
.discord .file b { color: var(--link); font-weight: 400; }
.discord .bar { color: var(--muted); background: var(--inset); } .discord .wave i { background: var(--muted); } .discord .play { border-left-color: var(--text); }
.discord .row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 0; }
.discord .button { background: var(--button); color: var(--head); border: 1px solid color-mix(in srgb, var(--muted) 12%, transparent); border-radius: 8px; padding: 5px 14px; font-size: 14px; font-weight: 500; line-height: 20px; } .discord .primary { background: #5865f2; border-color: #5865f2; color: #fff; }
.discord .emoji { margin-right: 7px; } .discord .external::after { content: '↗'; margin-left: 8px; }
.discord .menu { min-width: 380px; background: var(--inset); border: 1px solid var(--line); color: var(--muted); border-radius: 8px; padding: 8px 12px; display: flex; justify-content: space-between; }
.discord .options { border: 1px solid var(--line); background: var(--card); border-radius: 8px; margin-top: 4px; padding: 4px 0; width: 406px; } .discord .options div { display: flex; gap: 4px; padding: 5px 12px; align-items: center; } .discord .options b { display: block; font-weight: 500; color: var(--head); font-size: 14px; } .discord .options small { color: var(--muted); font-size: 13px; }
.discord.form { width: 480px; padding: 20px 24px; } .discord.form h2 { margin: 0 0 14px; } .discord .field { margin-bottom: 18px; } .discord .field b { display: block; color: var(--head); font-weight: 600; } .discord .field em { color: #d83c3e; font-style: normal; } .discord .field small { display: block; color: var(--muted); font-size: 13px; margin: 1px 0 6px; }
.discord .input, .discord .drop { background: var(--inset); border: 1px solid var(--line); border-radius: 8px; min-height: 20px; padding: 8px 12px; white-space: pre-wrap; } .discord .input.area { min-height: 62px; } .discord .drop { text-align: center; color: var(--muted); padding: 16px; border-style: dashed; } .discord .field .menu { min-width: 0; } .discord .box { display: block; width: 20px; height: 20px; border: 1px solid var(--muted); border-radius: 4px; } .discord.form .row { justify-content: flex-end; }
`;
