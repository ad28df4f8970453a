export { type Holder, isFor, type ListRow, resellerOf } from './store.ts';
