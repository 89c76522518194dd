/** Draws messages in Slack's layout, without any of Slack's own assets. */
import { z } from 'zod';
import type { SlackMessage } from './capture.ts';
import { type Html, html, markdown, mrkdwn, picture, player } from './html.ts';

const textSchema = z.object({ text: z.string() });
const imageSchema = z.object({ slack_file: z.object({ id: z.string() }) });
const elementSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('button'), text: textSchema, style: z.string().optional() }),
  z.object({ type: z.literal('static_select'), placeholder: textSchema }),
]);
const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('header'), text: textSchema }),
  z.object({
    type: z.literal('card'),
    hero_image: imageSchema.optional(),
    title: textSchema.optional(),
    subtitle: textSchema.optional(),
  }),
  z.object({ type: z.literal('markdown'), text: z.string() }),
  z.object({ type: z.literal('context'), elements: z.array(textSchema) }),
  z.object({
    type: z.literal('section'),
    text: textSchema.optional(),
    fields: z.array(textSchema).default([]),
    accessory: imageSchema.optional(),
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
]);

type FileBytes = (id: string) => Uint8Array | undefined;

/** Draws messages with the files in their threads. Throws ZodError for unsupported blocks. */
export async function slackPage(messages: readonly SlackMessage[], slackFile: FileBytes): Promise<Html> {
  const first = messages.filter(({ threadTs }) => threadTs === undefined);
  const rendered = await Promise.all(
    first.map(async ({ ts, blocks }) => {
      const replies = messages.filter(({ threadTs }) => threadTs === ts).flatMap(({ files }) => files);
      const sounds = replies.filter(({ mimetype }) => mimetype.startsWith('audio/'));
      const players = await Promise.all(sounds.map(({ name, bytes }) => player(name, bytes)));
      const thread = html`<div class="thread"><span>${sounds.length} replies in the thread</span>${players}</div>`;
      const body = await Promise.all(
        z
          .array(blockSchema)
          .parse(blocks)
          .map((block) => draw(block, slackFile)),
      );
      return html`<article>
        <div class="avatar"></div>
        <div class="name"><b>Minstrel</b><span class="tag">APP</span><time>6:04 PM</time></div>
        ${body}${sounds.length > 0 ? thread : undefined}
      </article>`;
    }),
  );
  return html`<style>${{ html: STYLE }}</style><main class="slack"><header># music</header>${rendered}</main>`;
}

async function draw(block: z.infer<typeof blockSchema>, slackFile: FileBytes): Promise<Html> {
  switch (block.type) {
    case 'header':
      return html`<h3>${block.text.text}</h3>`;
    case 'card': {
      const hero = block.hero_image && slackFile(block.hero_image.slack_file.id);
      return html`<div class="card">
        ${hero && (await picture(hero, 360))}
        <h4>${mrkdwn(block.title?.text ?? '')}</h4>
        <p class="context">${mrkdwn(block.subtitle?.text ?? '')}</p>
      </div>`;
    }
    case 'markdown':
      return html`<p>${markdown(block.text)}</p>`;
    case 'context':
      return html`<p class="context">${block.elements.map(({ text }) => mrkdwn(text))}</p>`;
    case 'section': {
      const cover = block.accessory && slackFile(block.accessory.slack_file.id);
      const fields = block.fields.map(({ text }) => html`<div>${mrkdwn(text)}</div>`);
      return html`<section>
        <div>${mrkdwn(block.text?.text ?? '')}<div class="fields">${fields}</div></div>
        ${cover && (await picture(cover, 84))}
      </section>`;
    }
    case 'actions':
      return html`<div class="row">${block.elements.map(control)}</div>`;
    case 'context_actions':
      return html`<div class="row">${block.elements.map(
        ({ positive_button, negative_button }) =>
          html`<span class="rating">${positive_button.text.text}</span><span class="rating">${negative_button.text.text}</span>`,
      )}</div>`;
    default:
      return block satisfies never;
  }
}

function control(element: z.infer<typeof elementSchema>): Html {
  if (element.type === 'static_select')
    return html`<span class="menu">${element.placeholder.text}<i></i></span>`;
  return html`<span class="button ${element.style ?? ''}">${element.text.text}</span>`;
}

const STYLE = `
.slack { width: 590px; padding: 0 0 18px; background: #fff; color: #1d1c1d; font-size: 15px; line-height: 1.45; }
.slack header { padding: 12px 18px; border-bottom: 1px solid #e3e2e3; font-weight: 700; margin-bottom: 14px; }
.slack article { position: relative; padding: 0 18px 14px 66px; }
.slack .avatar { left: 18px; top: 3px; width: 36px; height: 36px; border-radius: 8px; }
.slack .tag { background: #ebeaeb; color: #616061; border-radius: 3px; font-size: 10px; font-weight: 700; padding: 1px 4px; margin: 0 7px; vertical-align: 1px; }
.slack time, .slack .context { color: #616061; font-size: 12px; }
.slack .card { width: 360px; border: 1px solid #dddcdd; border-radius: 12px; overflow: hidden; margin: 6px 0; padding-bottom: 8px; }
.slack .card img { display: block; height: 240px; object-fit: cover; } .slack .card h4 { margin: 10px 14px 0; font-size: 15px; } .slack .card p { margin: 0 14px; }
.slack h3 { margin: 4px 0 2px; font-size: 18px; } .slack p { margin: 3px 0; }
.slack section { display: flex; justify-content: space-between; width: 500px; margin: 4px 0; }
.slack .fields { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 24px; } .slack section img { border-radius: 8px; height: 84px; }
.slack .row { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 4px; }
.slack .button, .slack .menu { border: 1px solid #bbbabb; border-radius: 4px; padding: 3px 11px; font-size: 13px; font-weight: 700; white-space: nowrap; }
.slack .primary { background: #107a5a; border-color: #107a5a; color: #fff; } .slack .menu i { margin-left: 14px; }
.slack .rating { border: 1px solid #dddcdd; border-radius: 12px; color: #616061; font-size: 12px; padding: 0 9px; }
.slack .thread { border: 1px solid #e3e2e3; border-radius: 8px; padding: 8px 12px 10px; margin-top: 10px; width: 478px; }
.slack .thread > span { color: #1264a3; font-size: 13px; font-weight: 700; }
.slack .file { margin: 6px 0 0; } .slack .file b { font-size: 14px; }
.slack .bar { background: #f4f4f4; color: #616061; } .slack .wave i { background: #a3a2a3; } .slack .play { border-left-color: #1d1c1d; }
`;
