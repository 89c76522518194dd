/** Draws messages and forms in Slack's layout, without any of Slack's own assets. */
import { z } from 'zod';
import { type Html, html, markdown, picture, player, type Scheme } from './html.ts';

const textSchema = z.object({ text: z.string() });
const imageSchema = z.object({ slack_file: z.object({ id: z.string() }), title: textSchema.optional() });
const optionSchema = z.object({ text: textSchema, description: textSchema.optional() });
const elementSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('button'),
    text: textSchema,
    style: z.string().optional(),
    url: z.string().optional(),
  }),
  z.object({
    type: z.literal('static_select'),
    placeholder: textSchema,
    options: z.array(optionSchema).default([]),
    option_groups: z.array(z.object({ label: textSchema, options: z.array(optionSchema) })).default([]),
  }),
  z.object({ type: z.literal('overflow'), options: z.array(optionSchema) }),
]);
const cellSchema = z.object({ type: z.string(), text: z.string() });
const inputSchema = z.object({
  type: z.string(),
  multiline: z.boolean().optional(),
  initial_value: z.string().optional(),
  initial_option: optionSchema.optional(),
  initial_options: z.array(optionSchema).default([]),
  options: z.array(optionSchema).default([]),
});
const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('header'), text: textSchema }),
  z.object({
    type: z.literal('card'),
    hero_image: imageSchema.optional(),
    title: textSchema.optional(),
    subtitle: textSchema.optional(),
    actions: z.array(elementSchema).default([]),
  }),
  z.object({ type: z.literal('markdown'), text: z.string() }),
  z.object({ type: z.literal('context'), elements: z.array(textSchema) }),
  z.object({
    type: z.literal('section'),
    text: textSchema.optional(),
    fields: z.array(textSchema).default([]),
    accessory: z
      .union([imageSchema, z.object({ type: z.literal('conversations_select') }), elementSchema])
      .optional(),
  }),
  z.object({
    type: z.literal('context_actions'),
    elements: z.array(
      z.object({
        positive_button: z.object({ text: textSchema }),
        negative_button: z.object({ text: textSchema }),
      }),
    ),
  }),
  z.object({ type: z.literal('actions'), elements: z.array(elementSchema) }),
  z.object({ type: z.literal('divider') }),
  imageSchema.extend({ type: z.literal('image') }),
  z.object({
    type: z.literal('data_visualization'),
    title: z.string(),
    chart: z.object({
      series: z.array(
        z.object({ name: z.string(), data: z.array(z.object({ label: z.string(), value: z.number() })) }),
      ),
    }),
  }),
  z.object({ type: z.literal('data_table'), caption: z.string(), rows: z.array(z.array(cellSchema)) }),
  z.object({
    type: z.literal('input'),
    label: textSchema,
    hint: textSchema.optional(),
    optional: z.boolean().default(false),
    element: inputSchema,
  }),
]);
type Block = z.infer<typeof blockSchema>;

/** A message and the files in its thread. */
export interface Shown {
  readonly blocks: readonly unknown[];
  readonly replies?: readonly ThreadFile[];
  /** Only the person sees it. */
  readonly isPrivate?: boolean;
  /** Draws the menu's options below it. */
  readonly openMenu?: boolean;
}

interface ThreadFile {
  readonly name: string;
  readonly title?: string;
  readonly mimetype: string;
  readonly bytes: Uint8Array;
}

interface Drawing {
  readonly slackFile: (id: string) => Uint8Array | undefined;
  readonly openMenu?: boolean | undefined;
}

/** Draws messages with the files in their threads. Throws ZodError for unsupported blocks. */
export async function slackPage(
  messages: readonly Shown[],
  slackFile: Drawing['slackFile'],
  scheme: Scheme = 'light',
): Promise<Html> {
  const rendered = await Promise.all(
    messages.map(async ({ blocks, replies = [], isPrivate, openMenu }) => {
      const files = await Promise.all(replies.map(fileOf));
      const count = `${files.length} ${files.length === 1 ? 'reply' : 'replies'}`;
      const thread = html`<div class="thread"><span>${count}</span>${files}</div>`;
      return html`<article>
        <div class="avatar"></div>
        ${isPrivate ? html`<div class="only">Only visible to you</div>` : undefined}
        <div class="name"><b>Minstrel</b><span class="tag">APP</span><time>6:04 PM</time></div>
        ${await drawAll(blocks, { slackFile, openMenu })}${files.length > 0 ? thread : undefined}
      </article>`;
    }),
  );
  return html`<style>${{ html: STYLE }}</style><main class="slack ${scheme}"><header># music</header>${rendered}</main>`;
}

const viewSchema = z.object({
  type: z.string(),
  title: textSchema.optional(),
  submit: textSchema.optional(),
  blocks: z.array(z.unknown()),
});

/** Draws a form or the Home tab. Throws ZodError for unsupported blocks. */
export async function slackView(view: unknown, scheme: Scheme): Promise<Html> {
  const { type, title, submit, blocks } = viewSchema.parse(view);
  const body = await drawAll(blocks, { slackFile: () => undefined });
  const buttons = html`<div class="row end"><span class="button">Cancel</span><span class="button primary">${submit?.text}</span></div>`;
  return html`<style>${{ html: STYLE }}</style><main class="slack ${type === 'home' ? 'home' : 'form'} ${scheme}"><h3>${title?.text}</h3>${body}${submit && buttons}</main>`;
}

async function drawAll(blocks: readonly unknown[], drawing: Drawing): Promise<Html> {
  const drawn = await Promise.all(blocks.map((block) => draw(blockSchema.parse(block), drawing)));
  return html`${drawn}`;
}

async function fileOf({ name, title, mimetype, bytes }: ThreadFile): Promise<Html> {
  const shown = title ?? name;
  if (mimetype.startsWith('audio/')) return player(shown, bytes);
  if (mimetype.startsWith('video/'))
    return html`<div class="file"><b>${shown}</b><div class="video"></div></div>`;
  return html`<div class="file"><b>${shown}</b></div>`;
}

async function draw(block: Block, { slackFile, openMenu = false }: Drawing): Promise<Html> {
  const image = async ({ slack_file: { id } }: z.infer<typeof imageSchema>, width: number) => {
    const bytes = slackFile(id);
    return bytes && picture(bytes, { width });
  };
  switch (block.type) {
    case 'header':
      return html`<h3>${block.text.text}</h3>`;
    case 'card':
      return html`<div class="card">
        ${block.hero_image && (await image(block.hero_image, 360))}
        <h4>${mrkdwn(block.title?.text ?? '')}</h4>
        <p class="context">${mrkdwn(block.subtitle?.text ?? '')}</p>
        ${block.actions.length > 0 ? html`<div class="row">${block.actions.map((one) => control(one, openMenu))}</div>` : undefined}
      </div>`;
    case 'markdown':
      return html`<div class="text">${markdown(block.text.replaceAll('&lt;', '<'))}</div>`;
    case 'context':
      return html`<p class="context">${block.elements.map(({ text }) => html`<span>${mrkdwn(text)}</span>`)}</p>`;
    case 'section': {
      const { accessory } = block;
      const fields = block.fields.map(({ text }) => html`<div>${mrkdwn(text)}</div>`);
      const beside =
        accessory === undefined
          ? undefined
          : 'slack_file' in accessory
            ? await image(accessory, 84)
            : html`<span class="menu">Choose a channel<i></i></span>`;
      return html`<section>
        <div>${mrkdwn(block.text?.text ?? '')}<div class="fields">${fields}</div></div>
        ${beside}
      </section>`;
    }
    case 'actions':
      return html`<div class="row">${block.elements.map((one) => control(one, openMenu))}</div>`;
    case 'context_actions':
      return html`<div class="row">${block.elements.map(
        ({ positive_button, negative_button }) =>
          html`<span class="rating">👍 ${positive_button.text.text}</span><span class="rating">👎 ${negative_button.text.text}</span>`,
      )}</div>`;
    case 'divider':
      return html`<hr />`;
    case 'image':
      return html`<div class="image">${block.title && html`<p class="context">${block.title.text}</p>`}${await image(block, 360)}</div>`;
    case 'data_visualization':
      return chart(block);
    case 'data_table': {
      const [head = [], ...rows] = block.rows;
      const row = (cells: typeof head, tag: 'th' | 'td') =>
        cells.map(({ type, text }) => ({
          html: html`<${tag} class="${type}">${text}</${tag}>`.html,
        }));
      return html`<p class="caption">${block.caption}</p><table><tr>${row(head, 'th')}</tr>${rows.map(
        (cells) => html`<tr>${row(cells, 'td')}</tr>`,
      )}</table>`;
    }
    case 'input':
      return input(block);
    default:
      return block satisfies never;
  }
}

const SERIES = ['#4a8fe0', '#2ba57e', '#e0a13c', '#c65d7b', '#8b6fd1', '#5b6b7b'];

function chart({ title, chart: { series } }: Extract<Block, { type: 'data_visualization' }>): Html {
  const count = series[0]?.data.length ?? 0;
  const totals = Array.from({ length: count }, (_, at) =>
    series.reduce((sum, { data }) => sum + (data[at]?.value ?? 0), 0),
  );
  const most = Math.max(1, ...totals);
  const bars = totals.map((_, at) => {
    const parts = series.map(
      ({ data }, index) =>
        html`<i style="height:${((data[at]?.value ?? 0) / most) * 120}px;background:${SERIES[index]}"></i>`,
    );
    return html`<div><span>${parts}</span><small>${series[0]?.data[at]?.label}</small></div>`;
  });
  const legend = series.map(
    ({ name }, index) => html`<small><i style="background:${SERIES[index]}"></i>${name}</small>`,
  );
  return html`<div class="chart"><b>${title}</b><div class="bars">${bars}</div><p>${legend}</p></div>`;
}

function input({ label, hint, optional, element }: Extract<Block, { type: 'input' }>): Html {
  const { type, multiline, initial_value, initial_option, initial_options, options } = element;
  const field =
    type === 'checkboxes'
      ? html`${options.map(({ text }) => html`<div><span class="box">${initial_options.length > 0 ? '✓' : ''}</span>${text.text}</div>`)}`
      : type === 'file_input'
        ? html`<span class="button">Add a file</span>`
        : type.endsWith('_select')
          ? html`<div class="input">${initial_option?.text.text ?? html`<span class="context">Choose an option</span>`}<i class="down"></i></div>`
          : html`<div class="input ${multiline ? 'area' : ''}">${initial_value ?? ''}</div>`;
  return html`<div class="field"><b>${label.text}</b>${optional ? html` <span class="context">(optional)</span>` : undefined}${field}${
    hint && html`<p class="context">${hint.text}</p>`
  }</div>`;
}

function control(element: z.infer<typeof elementSchema>, openMenu: boolean): Html {
  if (element.type === 'button')
    return html`<span class="button ${element.style ?? ''}">${element.text.text}</span>`;
  const item = ({ text, description }: z.infer<typeof optionSchema>) =>
    html`<div>${text.text}${description && html`<small>${description.text}</small>`}</div>`;
  if (element.type === 'overflow')
    return html`<span class="button">⋯</span>${openMenu ? html`<div class="options">${element.options.map(item)}</div>` : undefined}`;
  const groups = [
    ...element.options.map(item),
    ...element.option_groups.flatMap(({ label, options }) => [
      html`<div class="group">${label.text}</div>`,
      ...options.map(item),
    ]),
  ];
  return html`<span class="menu">${element.placeholder.text}<i></i></span>${
    openMenu ? html`<div class="options">${groups}</div>` : undefined
  }`;
}

const EMOJI: Readonly<Record<string, string>> = { hourglass_flowing_sand: '⏳' };

/** Renders Slack's `*strong*`, `_emphasis_`, links, mentions, times and names of emoji. */
function mrkdwn(text: string): Html {
  const shown = html`${text.replace(/&(amp|lt|gt);/g, (_, name: string) => `\ue000${name};`)}`.html
    .replace(/&#60;!date\^\d+\^[^|]*\|([^&]*)&#62;/g, '$1')
    .replace(/&#60;@\w+&#62;/g, '<span class="mention">@Ada</span>')
    .replace(/&#60;#\w+&#62;/g, '<span class="mention">#music</span>')
    .replace(/&#60;(https?:[^|]*?)\|(.*?)&#62;/g, '<a>$2</a>')
    .replace(/&#60;(https?:.*?)&#62;/g, '<a>$1</a>')
    .replace(/(?<![\w*])\*([^*\n]+)\*(?![\w*])/g, '<b>$1</b>')
    .replace(/(?<!\w)_([^_\n]+)_(?!\w)/g, '<em>$1</em>')
    .replace(/:(\w+):/g, (whole, name: string) => EMOJI[name] ?? whole)
    .replaceAll('\ue000', '&')
    .replaceAll('\n', '<br />');
  return { html: shown };
}

const STYLE = `
.slack { --back: #fff; --text: #1d1c1d; --muted: #616061; --line: #dddcdd; --edge: #bbbabb; --link: #1264a3; --inset: #f4f4f4; width: 640px; padding: 0 0 18px; background: var(--back); color: var(--text); font-size: 15px; line-height: 1.46; }
.slack.dark { --back: #1a1d21; --text: #d1d2d3; --muted: #9a9b9e; --line: #3a3d42; --edge: #565a60; --link: #1d9bd1; --inset: #222529; }
.slack header { padding: 12px 18px; border-bottom: 1px solid var(--line); font-weight: 700; margin-bottom: 14px; }
.slack article { position: relative; padding: 0 18px 16px 66px; }
.slack .avatar { left: 18px; top: 3px; width: 36px; height: 36px; border-radius: 8px; }
.slack .tag { background: color-mix(in srgb, var(--muted) 16%, transparent); color: var(--muted); border-radius: 3px; font-size: 10px; font-weight: 700; padding: 1px 4px; margin: 0 7px; vertical-align: 1px; }
.slack time, .slack .context, .slack .only { color: var(--muted); font-size: 12px; } .slack a { color: var(--link); } .slack .mention { color: var(--link); background: color-mix(in srgb, var(--link) 14%, transparent); border-radius: 3px; padding: 0 2px; }
.slack .context span + span { margin-left: 8px; }
.slack .card { width: 360px; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; margin: 6px 0; padding-bottom: 10px; }
.slack .card img { display: block; height: 240px; width: 360px; object-fit: cover; } .slack .card h4 { margin: 10px 14px 0; font-size: 15px; } .slack .card h4 a { text-decoration: none; } .slack .card p { margin: 0 14px; } .slack .card .row { margin: 8px 14px 2px; }
.slack h3 { margin: 4px 0 2px; font-size: 18px; } .slack p { margin: 3px 0; } .slack .text p { margin: 4px 0 8px; } .slack hr { border: 0; border-top: 1px solid var(--line); margin: 10px 0; }
.slack ul, .slack ol { margin: 4px 0; padding-left: 24px; } .slack code { background: var(--inset); border: 1px solid var(--line); border-radius: 3px; color: #c7254e; padding: 0 3px; font: 12px/1.5 Mono, monospace; } .slack.dark code { color: #e8912d; } .slack pre code { display: block; color: inherit; padding: 8px; white-space: pre-wrap; } .slack pre { margin: 6px 0; }
.slack blockquote { margin: 4px 0 8px; padding-left: 14px; border-left: 4px solid var(--line); }
.slack section { display: flex; justify-content: space-between; width: 540px; margin: 6px 0; }
.slack .fields { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 24px; } .slack section img { border-radius: 8px; height: 84px; width: 84px; object-fit: cover; } .slack .image img { display: block; border-radius: 8px; margin: 4px 0; }
.slack .row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 4px; } .slack .end { justify-content: flex-end; }
.slack .button, .slack .menu { border: 1px solid var(--edge); border-radius: 8px; padding: 3px 11px; font-size: 13px; font-weight: 700; white-space: nowrap; height: 20px; }
.slack .primary { background: #007a5a; border-color: #007a5a; color: #fff; } .slack .danger { color: #e01e5a; border-color: #e01e5a; } .slack .menu i { margin-left: 14px; }
.slack .rating { border: 1px solid var(--line); border-radius: 12px; color: var(--muted); font-size: 12px; padding: 0 9px; }
.slack .thread { border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px 10px; margin-top: 10px; width: 478px; }
.slack .thread > span { color: var(--link); font-size: 13px; font-weight: 700; }
.slack .file { margin: 6px 0 0; } .slack .file b { font-size: 14px; } .slack .video { width: 360px; height: 200px; background: #000; border-radius: 8px; }
.slack .bar { background: var(--inset); color: var(--muted); } .slack .wave i { background: var(--muted); } .slack .play { border-left-color: var(--text); }
.slack table { border-collapse: collapse; font-size: 13px; margin: 4px 0 10px; } .slack th, .slack td { border: 1px solid var(--line); padding: 4px 12px; text-align: left; } .slack .raw_number { text-align: right; } .slack .caption { font-weight: 700; font-size: 13px; margin-top: 8px; }
.slack .chart { border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; width: 500px; margin: 6px 0; } .slack .bars { display: flex; align-items: flex-end; gap: 8px; height: 146px; } .slack .bars div { flex: 1; text-align: center; } .slack .bars span { display: flex; flex-direction: column-reverse; margin: 0 4px; } .slack .chart small { font-size: 11px; color: var(--muted); } .slack .chart p small { margin-right: 14px; } .slack .chart p i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 5px; }
.slack .options { flex-basis: 100%; border: 1px solid var(--line); border-radius: 8px; width: 360px; padding: 6px 0; font-size: 14px; } .slack .options div { padding: 2px 16px; } .slack .options .group { font-weight: 700; color: var(--muted); font-size: 12px; padding-top: 8px; } .slack .options small { display: block; color: var(--muted); font-size: 12px; }
.slack.form, .slack.home { padding: 18px 24px; } .slack.form { width: 520px; } .slack .field { margin: 14px 0; } .slack .input { border: 1px solid var(--edge); border-radius: 8px; padding: 7px 12px; margin-top: 4px; min-height: 22px; white-space: pre-wrap; } .slack .area { min-height: 64px; } .slack .down { float: right; border: 5px solid transparent; border-top-color: var(--muted); margin-top: 9px; } .slack .box { display: inline-block; width: 15px; height: 15px; border: 1px solid var(--edge); border-radius: 4px; margin-right: 8px; vertical-align: -2px; }
`;
