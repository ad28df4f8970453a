/** `missing` stops Tradewind; `limited` leaves something out. Both say how to mend it. */
export interface Finding {
  what: string;
  state: 'ok' | 'limited' | 'missing';
  detail: string;
}
