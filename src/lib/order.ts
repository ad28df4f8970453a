type Direction = 'asc' | 'desc';

/** Returns the column and the direction of an order such as `created_at.desc`. */
export function orderOf<Column extends string>(order: `${Column}.${Direction}`): [Column, Direction] {
  return order.split('.') as [Column, Direction];
}
