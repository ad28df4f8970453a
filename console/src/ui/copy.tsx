import { useRef, useState } from 'react';

/** Copies a text. Where a page may not write to the clipboard, as over plain HTTP, it selects the text instead. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string>();
  const hidden = useRef<HTMLTextAreaElement>(null);
  async function copy() {
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      hidden.current?.focus();
      hidden.current?.select();
      // Over plain HTTP there is no other way.
      // oxlint-disable-next-line typescript/no-deprecated
      copied = document.execCommand('copy');
    }
    setSaid(copied ? 'Copied' : 'Press Ctrl+C');
    setTimeout(() => setSaid(undefined), 2_000);
  }
  return (
    <>
      <button type="button" className="button quiet" aria-label={label} onClick={copy}>
        {said ?? 'Copy'}
      </button>
      <textarea ref={hidden} className="hidden" readOnly value={text} tabIndex={-1} aria-hidden />
    </>
  );
}
