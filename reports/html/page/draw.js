// draw: the calls of one row at the present zoom. Calls narrower than three pixels are merged: a column shows
// which part of its time was spent in calls, and whether one of them failed.
RF.kNarrow = 3;

// Calls bar(index, x, width) for each call that is wide enough, and column(x, width, first, past) for the rest.
RF.eachVisible = function (lane, row, scale, bar, column) {
  const all = lane.unpacked, n = row.calls.length, [from, to] = scale.domain();
  const per_pixel = (to - from) / (scale.range()[1] - scale.range()[0]);
  for (let k = RF.lowerBound(row.latest, from, 0, n); k < n && row.begin[k] <= to; ) {
    const i = row.calls[k], x = scale(all.begin[i]), width = scale(all.end[i]) - x;
    if (width >= RF.kNarrow) {
      bar(i, x, width);
      ++k;
      continue;
    }
    // The next column begins two pixels further on; the last call before it may be a wide one.
    let past = RF.lowerBound(row.begin, row.begin[k] + 2 * per_pixel, k + 1, n);
    const last = row.calls[past - 1];
    if (past - 1 > k && (all.end[last] - all.begin[last]) / per_pixel >= RF.kNarrow) --past;
    column(x, 2, k, past);
    k = past;
  }
};

// The call at that time, or the nearest one within `reach`; -1: none.
RF.callAt = function (lane, row, time, reach) {
  const all = lane.unpacked, n = row.calls.length;
  let best = -1, nearest = reach;
  const after = RF.lowerBound(row.begin, time + reach, 0, n);
  for (let k = after - 1; k >= 0 && k > after - 64 && row.latest[k] >= time - reach; --k) {
    const i = row.calls[k];
    const away = time < all.begin[i] ? all.begin[i] - time : time > all.end[i] ? time - all.end[i] : 0;
    if (away < nearest || (away === 0 && best < 0)) {
      best = i;
      nearest = away;
    }
    if (away === 0) break;
  }
  return best;
};
