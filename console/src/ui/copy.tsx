import { useRef, useState } from 'react';

/** Copies a text. Where a page may not write to the clipboard, as over plain HTTP, it selects the text instead. */
export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const hidden = useRef<HTMLTextAreaElement>(null);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      hidden.current?.select();
      // Over plain HTTP there is no other way.
      // oxlint-disable-next-line typescript/no-deprecated
      document.execCommand('copy');
    }
    setDone(true);
    setTimeout(() => setDone(false), 2_000);
  }
  return (
    <>
      <button type="button" className="button quiet" aria-label={label} onClick={copy}>
        {done ? 'Copied' : 'Copy'}
      </button>
      <textarea ref={hidden} className="hidden" readOnly value={text} tabIndex={-1} aria-hidden />
    </>
  );
}
