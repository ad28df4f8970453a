import { useEffect, useEffectEvent } from 'react';

/** Whether single keys do something. Speech input and a hand that slips can press them unasked. */
export const areKeysOn = (): boolean => localStorage.getItem('keys') !== 'off';
export const turnKeys = (on: boolean): void => localStorage.setItem('keys', on ? 'on' : 'off');

/** Where keys are text, or choose something. */
const FIELDS = 'input:not([type="checkbox"], [type="radio"]), select, textarea, [contenteditable]';
const FILTERS = 'main input[type="search"], main :is(search, .filters) :is(input, select)';
/** All that opens above the page, except short messages, has one behind it. */
const OPEN = '.backdrop';
const TOGETHER_MS = 2_000;

export const MODIFIER = navigator.userAgent.includes('Mac OS') ? '⌘' : 'Ctrl';

/** Does what keys stand for: `Ctrl k`, which Cmd is as good for, a single key, or `g` and the key after it. */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  const act = useEffectEvent((event: KeyboardEvent, keys: string) => {
    const action = actions[keys];
    if (!action) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    let before = { key: '', at: 0 };
    const listen = (event: KeyboardEvent) => {
      const { key, target, timeStamp: at, ctrlKey, metaKey, altKey, shiftKey, repeat, isComposing } = event;
      if (altKey || repeat || isComposing || document.querySelector(OPEN)) return;
      if (ctrlKey !== metaKey && !shiftKey) act(event, `Ctrl ${key.toLowerCase()}`);
      if (ctrlKey || metaKey || !areKeysOn() || (target as Element).closest(FIELDS)) return;
      const together = before.key === 'g' && at - before.at < TOGETHER_MS;
      before = { key, at };
      act(event, together ? `g ${key}` : key);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

export function focusFilter(): void {
  const fields = [...document.querySelectorAll<HTMLElement>(FILTERS)];
  fields.find((field) => field.checkVisibility())?.focus();
}
