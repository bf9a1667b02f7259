// pack: reads the packed numbers of reports/html/packed.h: base64 of variable-length integers.
RF.Pack = class {
  constructor(base64) {
    if (Uint8Array.fromBase64) {
      this.bytes = Uint8Array.fromBase64(base64);
    } else {
      const text = atob(base64);
      this.bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; ++i) this.bytes[i] = text.charCodeAt(i);
    }
    this.at = 0;
  }

  next() {
    let byte = this.bytes[this.at++];
    if (byte < 0x80) return byte;
    let number = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = this.bytes[this.at++];
      number += (byte & 0x7f) * scale;
    }
    return number;
  }

  signed() {
    const number = this.next();
    return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
  }
};

// The first index in [from, to) whose value is not less than `wanted`. The values increase.
RF.lowerBound = function (values, wanted, from, to) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
};
