//! `time.h`, in UTC.

use patchwright_semantics::Ty;

use super::calling::{Args, Native, int, word};
use crate::{fault::Run, machine::Machine};

/// Calendar time: seconds, minutes, hours, day of the month, month from 0, year from 1900, day of
/// the week from Sunday, day of the year from 0.
fn calendar(time: i64) -> [i64; 8] {
    let days = time.div_euclid(86_400);
    let rest = time.rem_euclid(86_400);
    // Howard Hinnant's `civil_from_days`.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let year_day = days - days_from(year, 1, 1);
    [
        rest % 60,
        rest / 60 % 60,
        rest / 3600,
        day,
        month - 1,
        year - 1900,
        (days + 4).rem_euclid(7),
        year_day,
    ]
}

fn days_from(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let yoe = year.rem_euclid(400);
    let mp = (month + 9) % 12;
    let doy = (153 * mp + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

fn put(m: &mut Machine<'_>, at: u64, time: i64) -> Run<u128> {
    for (index, field) in calendar(time).into_iter().enumerate() {
        m.memory
            .store(Ty::I32, at + 4 * index as u64, field as u64)?;
    }
    m.memory.store(Ty::I32, at + 32, 0)?;
    m.memory.store(Ty::I64, at + 40, 0)?;
    let zone = m.made("tzname", 16)?;
    let zone = m.memory.load(Ty::U64, zone)?;
    m.memory.store(Ty::U64, at + 48, zone)?;
    word(at)
}

fn fields(m: &Machine<'_>, at: u64) -> Run<[i64; 8]> {
    let mut found = [0; 8];
    for (index, field) in found.iter_mut().enumerate() {
        *field = m.memory.load(Ty::I32, at + 4 * index as u64).unwrap_or(0) as i64;
    }
    Ok(found)
}

fn seconds(f: &[i64; 8]) -> i64 {
    let year = f[5] + 1900 + f[4].div_euclid(12);
    let month = f[4].rem_euclid(12) + 1;
    days_from(year, month, 1) * 86_400 + (f[3] - 1) * 86_400 + f[2] * 3600 + f[1] * 60 + f[0]
}

/// Returns the model of a function of `time.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "time" => |m, a| {
            let (now, _) = m.world.now();
            if a.word(0)? != 0 {
                m.memory.store(Ty::I64, a.word(0)?, now as u64)?;
            }
            int(now)
        },
        "gettimeofday" => |m, a| {
            let (now, nanoseconds) = m.world.now();
            m.memory.store(Ty::I64, a.word(0)?, now as u64)?;
            m.memory
                .store(Ty::I64, a.word(0)? + 8, u64::from(nanoseconds / 1000))?;
            int(0)
        },
        "clock_gettime" => |m, a| {
            let (now, nanoseconds) = m.world.now();
            m.memory.store(Ty::I64, a.word(1)?, now as u64)?;
            m.memory
                .store(Ty::I64, a.word(1)? + 8, u64::from(nanoseconds))?;
            int(0)
        },
        "clock" => |m, _| int((m.executed / 100) as i64),
        "gmtime" | "localtime" => |m, a| {
            let time = m.memory.load(Ty::I64, a.word(0)?)? as i64;
            let at = m.made("tm", 56)?;
            put(m, at, time)
        },
        "gmtime_r" | "localtime_r" => |m, a| {
            let time = m.memory.load(Ty::I64, a.word(0)?)? as i64;
            put(m, a.word(1)?, time)
        },
        "mktime" | "timegm" | "timelocal" => |m, a| {
            let time = seconds(&fields(m, a.word(0)?)?);
            put(m, a.word(0)?, time)?;
            int(time)
        },
        "difftime" => |_, a| {
            let difference = (a.int(0)? - a.int(1)?) as f64;
            Ok(u128::from(difference.to_bits()))
        },
        "strftime" | "strftime_l" => strftime,
        "asctime" | "ctime" => asctime_like(name),
        "tzset" => |_, _| word(0),
        "nanosleep" | "usleep" | "sleep" => |_, _| int(0),
        _ => return None,
    })
}

fn asctime_like(name: &str) -> Native {
    match name {
        "asctime" => |m, a| {
            let f = fields(m, a.word(0)?)?;
            asctime(m, &f)
        },
        _ => |m, a| {
            let time = m.memory.load(Ty::I64, a.word(0)?)? as i64;
            asctime(m, &calendar(time))
        },
    }
}

fn asctime(m: &mut Machine<'_>, f: &[i64; 8]) -> Run<u128> {
    let text = expand(f, b"%a %b %e %H:%M:%S %Y\n");
    let at = m.made("asctime", 64)?;
    m.put_text(at, &text)?;
    word(at)
}

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn expand(f: &[i64; 8], format: &[u8]) -> Vec<u8> {
    let [sec, min, hour, day, month, year, weekday, year_day] = *f;
    let full = year + 1900;
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let day_name = DAYS[weekday.rem_euclid(7) as usize];
    let month_name = MONTHS[month.rem_euclid(12) as usize];
    let mut out = String::new();
    let mut chars = format.iter().map(|&b| char::from(b));
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut c = chars.next().unwrap_or('%');
        while matches!(c, 'E' | 'O' | '-' | '_' | '^') {
            c = chars.next().unwrap_or('%');
        }
        let nested = |text: &[u8]| String::from_utf8_lossy(&expand(f, text)).into_owned();
        out.push_str(&match c {
            'a' => day_name[..3].to_owned(),
            'A' => day_name.to_owned(),
            'b' | 'h' => month_name[..3].to_owned(),
            'B' => month_name.to_owned(),
            'c' => nested(b"%a %b %e %H:%M:%S %Y"),
            'C' => format!("{:02}", full.div_euclid(100)),
            'd' => format!("{day:02}"),
            'D' | 'x' => nested(b"%m/%d/%y"),
            'e' => format!("{day:2}"),
            'F' => nested(b"%Y-%m-%d"),
            'H' => format!("{hour:02}"),
            'I' => format!("{twelve:02}"),
            'j' => format!("{:03}", year_day + 1),
            'k' => format!("{hour:2}"),
            'l' => format!("{twelve:2}"),
            'm' => format!("{:02}", month + 1),
            'M' => format!("{min:02}"),
            'n' => "\n".to_owned(),
            'p' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            'r' => nested(b"%I:%M:%S %p"),
            'R' => nested(b"%H:%M"),
            's' => seconds(f).to_string(),
            'S' => format!("{sec:02}"),
            't' => "\t".to_owned(),
            'T' | 'X' => nested(b"%H:%M:%S"),
            'u' => (if weekday == 0 { 7 } else { weekday }).to_string(),
            'U' => format!("{:02}", (year_day + 7 - weekday) / 7),
            'w' => weekday.to_string(),
            'W' => format!("{:02}", (year_day + 7 - (weekday + 6) % 7) / 7),
            'y' => format!("{:02}", full.rem_euclid(100)),
            'Y' => full.to_string(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            '%' => "%".to_owned(),
            other => format!("%{other}"),
        });
    }
    out.into_bytes()
}

fn strftime(m: &mut Machine<'_>, a: &Args<'_>) -> Run<u128> {
    let format = m.text(a.word(2)?)?;
    let f = fields(m, a.word(3)?)?;
    let text = expand(&f, &format);
    if text.len() as u64 >= a.word(1)? {
        return word(0);
    }
    m.put_text(a.word(0)?, &text)?;
    word(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_is_its_own_inverse() {
        for time in [0, 951_782_400, 1_700_000_000, -1, 4_102_444_799] {
            assert_eq!(seconds(&calendar(time)), time);
        }
        assert_eq!(calendar(951_782_400)[3..6], [29, 1, 100]);
    }
}
