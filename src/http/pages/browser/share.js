/** The button that hands the address of the page on: to the system where it takes one, else to the clipboard. */

for (const button of document.querySelectorAll('button.share')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const { url = location.href } = button.dataset;
  const canShare = typeof navigator.share === 'function';
  if (!canShare && !navigator.clipboard) continue;
  const words = canShare ? 'Share' : 'Copy link';
  button.textContent = words;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      if (canShare) return await navigator.share({ title: document.title, url });
      await navigator.clipboard.writeText(url);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = words;
      }, 2_000);
    } catch {
      // Not sent after all, or not allowed: the address is in the browser's own line.
    }
  });
}
