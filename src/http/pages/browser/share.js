/** The share button: opens the system's share sheet if available, otherwise copies the link. */

for (const button of document.querySelectorAll('button.share')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const { url = location.href } = button.dataset;
  const canShare = typeof navigator.share === 'function';
  if (!canShare && !navigator.clipboard) continue;
  const label = canShare ? 'Share' : 'Copy link';
  button.textContent = label;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      if (canShare) return await navigator.share({ title: document.title, url });
      await navigator.clipboard.writeText(url);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = label;
      }, 2_000);
    } catch {
      // Cancelled or not allowed. The URL is still in the address bar.
    }
  });
}
