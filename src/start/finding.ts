/** `missing` stops Tradewind; `limited` leaves something out. Both say how to fix it. */
export interface Finding {
  what: string;
  state: 'ok' | 'limited' | 'missing';
  detail: string;
}

type Made = (what: string, detail: string) => Finding;
export const ok: Made = (what, detail) => ({ what, state: 'ok', detail });
export const limited: Made = (what, detail) => ({ what, state: 'limited', detail });
export const missing: Made = (what, detail) => ({ what, state: 'missing', detail });
