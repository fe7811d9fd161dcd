// In Latin 1: café, ©
/* ÿþ */ struct Old { 1: i32 a } # é
