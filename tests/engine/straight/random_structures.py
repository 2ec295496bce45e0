"""Random statements with tuples, lists, dicts and local functions."""

from tests.engine.straight.random_texts import MATRIX, VECTOR, Expressions

__all__ = ["Structures"]


class Structures(Expressions):
    """Writes statements that put values together, and functions that read them."""

    def local_function(self):
        """A function that reads variables around it, which change after that."""
        name, w = self.new("g"), self.new("w")
        given = f", k={self.number(1)}" if self.chance(0.3) else ""
        self.numbers.append(w)
        body = f"{w} * {self.number(2)} + {self.pick(*self.numbers)}"
        more = f" * {self.number(1)}"
        self.numbers.remove(w)
        if self.chance(0.5):
            self.emit(f"{name} = lambda {w}{given}: {body}")
        else:
            self.emit(f"def {name}({w}{given}):")
            if self.chance(0.5):
                self.emit(f"    if TEST({w} > {self.number(0)}):")
                self.emit(f"        return {w}{more}")
            self.emit(f"    return {body}")
        result = self.new("s")
        if self.chance(0.5):
            changed = self.pick(*self.numbers)
            self.emit(f"{changed} = {changed} * {self.number(1)}")
        self.emit(f"{result} = {name}({self.number(1)}) - {name}({self.number(0)})")
        self.numbers.append(result)

    def tuples(self):
        """A tuple that goes through a loop."""
        name, s, t = self.new("t"), self.new("s"), self.new("s")
        self.emit(f"{name} = ({self.number(1)}, {self.pick('0', '1.0', 'y')})")
        self.emit(f"for _ in range({self.pick('0', '2', 'n')}):")
        self.emit(
            self.pick(
                f"    {name} = ({name}[1] * {self.number(1)}, {name}[0])",
                f"    {name} = (np.tanh({name}[0]), {name}[0] + {name}[1])",
                f"    {name} = ({name}[1], {name}[0])",
            )
        )
        if self.chance(0.3):
            self.emit(f"    if TEST({name}[0] > 0.7): break")
        self.emit(self.pick(f"{s}, {t} = {name}", f"{t}, {s} = {name}[::-1]"))
        self.numbers += [s, t]

    def unrolled(self):
        """A loop over what is spelled out."""
        name, total = self.new("k"), self.new("s")
        parts = [self.pick("1", "2", self.number(0)) for _ in range(3)]
        held = self.new("l")
        text = self.pick("({})", "[{}]").format(", ".join(parts))
        if self.chance(0.5):
            self.emit(f"{held} = {text}")
            text = held
        self.emit(f"{total} = {self.number(0)}")
        i = self.new("i")
        head, added = self.pick(
            (f"{name}", f"{name} * {total}"),
            (f"{i}, {name}", f"{name} * ({i} + 1)"),
            (f"{name}, {i}", f"{name} * {i}"),
        )
        if head.startswith(i):
            text = f"enumerate({text})"
        elif "," in head:
            text = f"zip({text}, (2, {self.number(0)}, x))"
        self.emit(f"for {head} in {text}:")
        self.emit(f"    {total} = np.tanh({total} + {added})")
        if self.chance(0.3):
            self.emit(f"    if TEST({total} > 0.5): return {total} * {name}")
        if self.chance(0.3):
            self.emit(f"    {name} = {name} * {self.number(0)}")
            self.emit(f"    {total} += {name}")
        self.numbers.append(total)

    def containers(self):
        """A dict or a list, read by literals."""
        name, s = self.new("d"), self.new("s")
        one, other = self.number(1), self.array(self.pick(VECTOR, MATRIX), 1)
        if self.chance(0.5):
            self.emit(f"{name} = {{'p': {one}, 'q': {other}}}")
            self.emit(f"{s} = {name}['p'] * np.sum({name}['q'])")
        else:
            self.emit(f"{name} = [{one}, ({other}, {self.number(0)})]")
            self.emit(f"{s} = {name}[0] * np.sum({name}[1][0]) - {name}[-1][1]")
        self.numbers.append(s)

    def classes(self):
        """What asks for classes and constants."""
        s, k = self.new("s"), self.new("k")
        self.emit(f"{k} = {self.pick('None', '2', 'x', 'n')}")
        self.emit(f"{s} = {self.pick('0', 'y', '1.5')}")
        self.emit(f"if {k} is None or isinstance({s}, {self.pick('int', 'float')}):")
        self.emit(f"    {s} = {self.number(1)}")
        kind = self.pick("float", "(int, np.floating)", "np.ndarray")
        self.emit(f"elif isinstance({k}, {kind}):")
        self.emit(f"    {s} = {s} * {k}")
        self.numbers.append(s)

    def functions(self):
        """Functions as values."""
        s = self.new("s")
        self.emit(f"{s} = {self.number(1)}")
        f = self.pick(
            "np.sin", "np.tanh", "scaled", "lambda v: v * x", "lambda v: v + y"
        )
        self.emit(f"for f in (np.cos, {f}):")
        self.emit(f"    {s} = f({s}) * {self.number(0)}")
        self.numbers.append(s)

    def filled_list(self):
        """A list that grows in a loop, and is read and changed on the way."""
        name, total, array = self.new("l"), self.new("s"), self.chance(0.3)
        value = self.array(VECTOR, 1) if array else self.number(2)
        first = self.pick("", value)
        self.emit(f"{name} = [{first}]")
        self.emit(f"{total} = {self.pick('0', '0.0', 'x')}")
        self.emit(f"for j in range({self.pick('2', '3', 'n + 1')}):")
        if self.chance(0.4):
            self.emit(f"    if {self.test()}:")
            self.emit(f"        {name}.append({value} * 0.5)")
        self.emit(
            f"    {name}.append({self.array(VECTOR, 1) if array else self.number(1)})"
        )
        read = f"np.sum({name}[{{}}])" if array else f"{name}[{{}}]"
        if self.chance(0.4):
            self.emit(f"    {total} += {read.format(self.pick('-1', '0'))} * 0.5")
        if self.chance(0.4):
            other = self.array(VECTOR, 1) if array else self.number(1)
            self.emit(f"    {name}[{self.pick('-1', '0')}] = {name}[-1] * {other}")
        if self.chance(0.2):
            self.emit(f"    {name} = [{value}, {value}]")
        if self.chance(0.3):
            self.emit(f"    if TEST({total} > 0.5): break")
        whole = f"np.sum(np.array({name}))" if array else f"sum({name})"
        part = f"sum(v * {read.format(0)} for v in {self.named(VECTOR)})"
        end = self.pick(whole, read.format(-1), part, f"len({name}) * x")
        self.emit(f"{total} = {total} + {end}")
        self.numbers.append(total)

    def comprehended(self):
        """A list made by a comprehension."""
        name, s = self.new("l"), self.new("s")
        guard = f" if TEST(v > {self.number(0)})" if self.chance(0.3) else ""
        over = self.pick(self.array(VECTOR, 1), "WEIGHTS", "range(3)", "range(n + 1)")
        self.emit(f"{name} = [v * {self.number(1)} for v in {over}{guard}]")
        end = self.pick(f"np.sum(np.array({name}))", f"sum({name})", f"len({name}) * y")
        self.emit(f"{s} = {end} * {self.number(0)}")
        self.numbers.append(s)
