/** The 404 page. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { brandStyles, markSvg } from '../core/brand.ts';

/** The response for everything that does not exist, so a nearly valid URL reveals nothing. */
export function sendNotFound(reply: FastifyReply): FastifyReply {
  reply.code(404);
  if (!reply.request.headers.accept?.includes('text/html')) return reply.send({ error: 'not found' });
  const style = createHash('sha256').update(NOT_FOUND_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; frame-ancestors 'none'`;
  return reply
    .headers({ 'content-security-policy': policy, vary: 'accept' })
    .type('text/html; charset=utf-8')
    .send(NOT_FOUND_PAGE);
}

/** Inline, because the page does not know the listener's root behind a proxy. */
const NOT_FOUND_STYLE = `${brandStyles()}
body { margin: 0; min-height: 100vh; display: grid; place-content: center;
  background: var(--paper); color: var(--text); font: 16px / 1.5 var(--font); }
main { max-width: 34rem; padding: 1rem; text-align: center; text-wrap: balance; }
h1 { margin: 1rem 0 .5rem; letter-spacing: -.025em; }
p { margin: 0; color: var(--muted); }
svg { width: 4rem; }
`;

const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Page not found</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<style>${NOT_FOUND_STYLE}</style>
</head>
<body>
<main>
${markSvg()}<h1>Page not found</h1>
<p>The link has expired or is incomplete. To get a new link, open the song's message in the chat.</p>
</main>
</body>
</html>
`;
